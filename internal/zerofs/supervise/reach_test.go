package supervise

import (
	"net"
	"path/filepath"
	"testing"

	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// ZeroFS serves 9P a moment before NBD. A socket of 9P that does not exist yet says nothing about
// a mark. Otherwise the server would be fenced, or would take a prefix over from another one.
func TestAServerThatStartsHasNotLostItsMark(t *testing.T) {
	s := &Supervisor{Dir: t.TempDir()}
	listener, err := net.Listen("unix", filepath.Join(s.Dir, zerofs.UpstreamSocket))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	if owner, err := s.ask(t.Context()); err == nil {
		t.Errorf("without a socket of 9P, the owner is %q", owner)
	}
}
