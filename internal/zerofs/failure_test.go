package zerofs_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// What 0.19.1 said, cut, unless it is named a fake.
var said = map[string]string{
	zerofs.ReasonPasswordWrong:   "Failed to unwrap DEK: Invalid password or corrupted key",
	zerofs.ReasonPasswordInvalid: "Password validation failed: Password must be at least 8 characters long",
	zerofs.ReasonConfigRejected: "Failed to load config from z.toml Caused by: 0: Failed to parse config file: z.toml " +
		"1: TOML parse error at line 20, column 2 unknown field `prometheus`",
	zerofs.ReasonBucketNotFound: `Failed to write bucket ID marker: NotFound { inner: Status { status: 404, body: Some( ` +
		`"<Error><Code>NoSuchBucket</Code><Message>The specified bucket does not exist.</Message>"`,
	zerofs.ReasonCredentialsRejected: `Failed to write bucket ID marker: PermissionDenied { inner: Status { status: 403, body: Some( ` +
		`"<Error><Code>SignatureDoesNotMatch</Code><AWSAccessKeyId>the-key</AWSAccessKeyId>"`,
	zerofs.ReasonEndpointUnreachable: `Failed to write bucket ID marker: Generic { inner: Http( HttpError { kind: Connect, source: reqwest::Error`,
	zerofs.ReasonStoreLost: `Failed to write bucket ID marker: Generic { store: "S3", source: RetryError( RetryErrorImpl { method: PUT, uri: Some( ` +
		`http://127.0.0.1:35709/pool/prod/node-1/.zerofs_bucket_id, ), retries: 10, max_retries: 10, elapsed: 3.13905922s, retry_timeout: 180s`,
	// Fakes, of its sources, of SlateDB's, and of Amazon's list of codes.
	zerofs.ReasonFenced:                    "Failed to open the database: detected newer DB client",
	zerofs.ReasonConditionalPutUnsupported: "Storage provider does not support conditional writes (PutMode::Create).",
	zerofs.ReasonClockSkew:                 "<Error><Code>RequestTimeTooSkewed</Code>",
	// Unknown messages.
	zerofs.ReasonServerFailed: "I/O error",
}

func TestExplain(t *testing.T) {
	hide := zerofs.SecretsOf([]string{"AWS_ACCESS_KEY_ID=the-key", "PATH=/bin"})
	for reason, text := range said {
		f := zerofs.Explain(text, hide)
		if f.Reason != reason || strings.Contains(f.Message, "the-key") {
			t.Errorf("%s: %v", reason, f)
		}
	}
	for _, text := range []string{"Server returned non-2xx status code: status: 502, body", "after 10 retries: 502 Bad Gateway"} {
		if f := zerofs.Explain(text, nil); f.Reason != zerofs.ReasonEndpointUnreachable {
			t.Errorf("%s: %v", text, f)
		}
	}
	if f := zerofs.Explain("", nil); f.Reason != zerofs.ReasonServerFailed || f.Message != "ZeroFS: it said nothing" {
		t.Error(f)
	}
}

func TestReport(t *testing.T) {
	file := filepath.Join(t.TempDir(), "termination-log")
	f := &zerofs.Failure{Reason: "Any", Message: strings.Repeat("ä\"", 2000)}
	if err := f.Report(file); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(file)
	got := zerofs.ParseFailure(string(raw))
	if err != nil || len(raw) > 4096 || got == nil || got.Reason != "Any" || len(got.Message) > 1024 || !utf8.ValidString(got.Message) {
		t.Errorf("%v, %d bytes, %v", err, len(raw), got)
	}
	for _, text := range []string{"", "panic: x", "{}", `"text"`} {
		if f := zerofs.ParseFailure(text); f != nil {
			t.Errorf("%q: %v", text, f)
		}
	}
}

func TestSecrets(t *testing.T) {
	s := zerofs.SecretsOf([]string{"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=a/b+c", "ZEROFS_PASSWORD=long=a/b+c", "NODE_NAME=n1"})
	for in, want := range map[string]string{
		"key a/b+c of n1":      "key *** of n1",
		"password long=a/b+c.": "password ***.",
		"in a URL: a%2Fb%2Bc":  "in a URL: ***",
		"":                     "",
	} {
		if got := s.Hide(in); got != want {
			t.Errorf("%q, wanted %q", got, want)
		}
	}
}

func TestPlain(t *testing.T) {
	for in, want := range map[string]string{
		"\x1b[2m2026\x1b[0m \x1b[31mERROR\x1b[0m a\n\tb": "2026 ERROR a b",
		"cut short \x1b[": "cut short",
		"a\x00\xffb":      "a ?b",
		"\x1b[31":         "31",
	} {
		if got := zerofs.Plain(in); got != want {
			t.Errorf("%q: %q, wanted %q", in, got, want)
		}
	}
}
