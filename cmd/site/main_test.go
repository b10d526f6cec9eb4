package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log/slog"
	"net"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/internal/site/watch"
)

func parsed(args ...string) (settings, error) {
	set := flag.NewFlagSet("site", flag.ContinueOnError)
	set.SetOutput(io.Discard)
	return flags(set, args)
}

func TestFlags(t *testing.T) {
	s, err := parsed("--member", "name=south,host=shop.south.example,port=6432", "--member=name=west,host=shop.west.example")
	want := []watch.Member{{Name: "south", Host: "shop.south.example", Port: 6432}, {Name: "west", Host: "shop.west.example", Port: 5432}}
	if err != nil || !slices.Equal(s.members, want) || s.certificates != "/etc/pgstorage/sites" || s.listen != ":9188" {
		t.Errorf("got %+v %v", s, err)
	}
	if s, err := parsed("--version"); err != nil || !s.showVersion {
		t.Errorf("got %+v %v", s, err)
	}
}

func TestWrongUsage(t *testing.T) {
	one := "--member=name=south,host=a.example"
	for _, args := range [][]string{nil, {"--listen=:1"}, {one, one}, {one, "more"}, {"--member=south"}, {one, "--kubeconfig=x"}} {
		if s, err := parsed(args...); err == nil {
			t.Errorf("%q: got %+v", args, s)
		}
	}
}

func TestItEndsCleanly(t *testing.T) {
	s, err := parsed("--member=name=south,host=south.invalid", "--listen=127.0.0.1:0", "--certificates="+t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	log := &signalled{stop: stop}
	if err := run(ctx, s, slog.New(slog.NewTextHandler(log, nil))); err != nil || !bytes.Contains(log.Bytes(), []byte("sites=1")) {
		t.Errorf("%v: %s", err, log)
	}
}

// signalled ends the program as it logs that it watches.
type signalled struct {
	bytes.Buffer
	stop context.CancelFunc
}

func (s *signalled) Write(p []byte) (int, error) {
	s.stop()
	return s.Buffer.Write(p)
}

func TestAnAddressInUseIsAnError(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was accepted
	s := settings{members: []watch.Member{{Name: "south"}}, listen: l.Addr().String()}
	if err := run(t.Context(), s, slog.New(slog.DiscardHandler)); err == nil {
		t.Error("no error")
	}
}

// The program has no rights in Kubernetes, and needs no client of it.
func TestItKnowsNoKubernetesClient(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "list", "-deps", ".").Output()
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range strings.FieldsSeq(string(out)) {
		for _, module := range []string{"sigs.k8s.io/", "k8s.io/client-go", "k8s.io/api/", "github.com/cloudnative-pg/", "github.com/pgstorage/pgstorage/api"} {
			if strings.HasPrefix(pkg, module) {
				t.Errorf("it links %s", pkg)
			}
		}
	}
}
