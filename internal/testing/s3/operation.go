package s3

import (
	"net/http"
	"net/url"
	"strings"
)

// Call is what a request asks of a store.
type Call struct {
	Method, Bucket string
	// Operation as the S3 API names it, such as PutObject. A put that is to fail
	// where there is an object, or another one, has "If" before that.
	Operation string
}

// callOf understands requests that name their bucket in the path.
func callOf(r *http.Request) Call {
	bucket, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	c := Call{Method: r.Method, Bucket: bucket}
	switch {
	case bucket == "":
		c.Operation = "ListBuckets"
	case key == "":
		c.Operation = ofBucket(r.Method, r.URL.Query())
	default:
		c.Operation = ofObject(r, r.URL.Query())
	}
	return c
}

func ofBucket(method string, query url.Values) string {
	switch {
	case method == http.MethodGet && query.Has("uploads"):
		return "ListMultipartUploads"
	case method == http.MethodGet:
		return "ListObjects"
	case method == http.MethodPost && query.Has("delete"):
		return "DeleteObjects"
	}
	return word(method) + "Bucket"
}

func ofObject(r *http.Request, query url.Values) string {
	switch {
	case r.Method == http.MethodPost && query.Has("uploads"):
		return "CreateMultipartUpload"
	case r.Method == http.MethodPut && query.Has("partNumber"):
		return "UploadPart"
	case r.Method == http.MethodPost && query.Has("uploadId"):
		return "CompleteMultipartUpload"
	case r.Method == http.MethodDelete && query.Has("uploadId"):
		return "AbortMultipartUpload"
	case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") != "":
		return "CopyObject"
	case r.Method == http.MethodPut && (r.Header.Get("If-Match") != "" || r.Header.Get("If-None-Match") != ""):
		return "IfPutObject"
	}
	return word(r.Method) + "Object"
}

// word has GET as Get.
func word(method string) string {
	if method == "" {
		return ""
	}
	return method[:1] + strings.ToLower(method[1:])
}
