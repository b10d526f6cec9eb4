package reconcile

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/sets"
	apirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// Verbs that are not the API server's.
const (
	housekeeping = "housekeeping" // leases, reviews of tokens and rights, discovery
	event        = "event"        // written too, but no state
)

var writeVerbs = []string{"apply-patch", "merge-patch", "json-patch", "strategic-merge-patch", "create", "update", "delete", "deletecollection"}

// request is what is counted: a verb as people speak of it, what it is done to,
// and whose that is, as namespace/name. Only writes have a cluster.
type request struct{ verb, resource, cluster string }

// tally of requests.
type tally map[request]int

var resolver = &apirequest.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}

func requestOf(r *http.Request) request {
	info, err := resolver.NewRequestInfo(r)
	if err != nil || !info.IsResourceRequest {
		return request{verb: housekeeping}
	}
	switch info.Resource {
	case "leases", "tokenreviews", "subjectaccessreviews":
		return request{verb: housekeeping}
	case "events":
		if r.Method != http.MethodGet {
			return request{verb: event}
		}
	}
	out := request{verb: info.Verb, resource: info.Resource}
	if info.Subresource != "" {
		out.resource += "/" + info.Subresource
	}
	if info.Verb == "patch" {
		out.verb = patchOf(r.Header.Get("Content-Type"))
	}
	if out.written() {
		out.cluster = owner(r, info)
	}
	return out
}

// patchOf application/apply-patch+yaml is apply-patch.
func patchOf(contentType string) string {
	kind, _, _ := mime.ParseMediaType(contentType)
	kind, _, _ = strings.Cut(strings.TrimPrefix(kind, "application/"), "+")
	return kind
}

// owner of an object that is written: the cluster of its label, else the object itself, as a
// cluster and its children have one name. An object without a namespace belongs to no cluster.
func owner(r *http.Request, info *apirequest.RequestInfo) string {
	if info.Namespace == "" {
		return ""
	}
	object := metav1.PartialObjectMetadata{}
	if r.Body != nil {
		body, err := io.ReadAll(r.Body)
		r.Body = io.NopCloser(bytes.NewReader(body))
		if err == nil {
			_ = json.Unmarshal(body, &object) // a body that is not JSON has no label
		}
	}
	name := object.Labels[naming.LabelCluster]
	for _, other := range []string{info.Name, object.Name} {
		if name == "" {
			name = other
		}
	}
	return info.Namespace + "/" + name
}

func (r request) written() bool { return slices.Contains(writeVerbs, r.verb) }

func (r request) read() bool { return r.verb == "get" || r.verb == "list" }

func (r request) String() string { return strings.TrimSpace(r.verb + " " + r.resource) }

// since then.
func (t tally) since(then tally) tally {
	out := tally{}
	for k, n := range t {
		if n > then[k] {
			out[k] = n - then[k]
		}
	}
	return out
}

// kinds sums over clusters.
func (t tally) kinds() map[string]int {
	out := map[string]int{}
	for k, n := range t {
		out[k.String()] += n
	}
	return out
}

func (t tally) sum(counts func(request) bool) int {
	total := 0
	for k, n := range t {
		if counts(k) {
			total += n
		}
	}
	return total
}

// writes of objects; events are counted apart.
func (t tally) writes() int { return t.sum(request.written) }

// own writes are those of clusters and their children.
func (t tally) own() int {
	return t.sum(func(r request) bool { return r.written() && r.cluster != "" })
}

func (t tally) reads() int { return t.sum(request.read) }

// changes are all writes, events too.
func (t tally) changes() int {
	return t.sum(func(r request) bool { return r.written() || r.verb == event })
}

// busiest is the cluster that most was written for.
func (t tally) busiest() (cluster string, writes int) {
	each := map[string]int{}
	for k, n := range t {
		if k.cluster != "" && k.written() {
			each[k.cluster] += n
		}
	}
	for name, n := range each {
		if n > writes || n == writes && name < cluster {
			cluster, writes = name, n
		}
	}
	return cluster, writes
}
