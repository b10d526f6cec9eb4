package zerofs_test

import (
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// What 0.19.1 logged, cut, unless it is named a fake.
func TestDeath(t *testing.T) {
	const task = "ERROR slatedb::dispatcher: background task panicked unexpectedly. "
	for line, want := range map[string]string{
		task + `[task_name=memtable_writer, error=Fenced, panic=None]`: zerofs.ReasonFenced,
		task + `[task_name=compactor, error=BackgroundTaskPanic("compactor"), panic=Some("fatal error loading manifest: ` +
			`ObjectStoreError(Generic { store: \"S3\", source: ListRequest { source: RetryError(RetryErrorImpl { retries: 10, inner: Http(HttpError { kind: Request`: zerofs.ReasonStoreLost,
		task + `[task_name=compactor, error=BackgroundTaskPanic("compactor"), panic=Some("fatal error loading manifest: ` +
			`ObjectStoreError(Generic { store: \"S3\", source: ListRequest { source: RetryError(RetryErrorImpl { retries: 10, inner: Http(HttpError { kind: Connect`: zerofs.ReasonStoreLost,
		"\x1b[31mERROR\x1b[0m \x1b[2mslatedb::dispatcher\x1b[0m: background task panicked unexpectedly. [task_name=compactor]": zerofs.ReasonStoreLost,
		// A fake: of a key that was withdrawn.
		task + `[task_name=memtable_writer, error=ObjectStoreError(<Code>AccessDenied</Code>)]`:                    zerofs.ReasonCredentialsRejected,
		"ERROR zerofs::cli::server: Periodic flush failed: IoError":                                                "",
		"WARN slatedb::mem_table_flush: won't flush imm to l0 because too many l0 files":                           "",
		"INFO slatedb::retrying_object_store: retrying object store operation [error=Generic { kind: Connect ...]": "",
	} {
		f := zerofs.Death(line)
		switch {
		case want == "" && f != nil:
			t.Errorf("%s: %v", line, f)
		case want != "" && (f == nil || f.Reason != want || !strings.Contains(f.Message, "[task_name=")):
			t.Errorf("%s: %v, wanted %s", line, f, want)
		}
	}
}
