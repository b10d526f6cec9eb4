// Command passes is an agent without an API server. It runs passes on this machine for a
// PgNodeStorage from a file until its conditions are as a test waits for. It keeps the status
// in a file beside it, as the API server would.
//
//	passes -until Ready=True storage.yaml
//	passes -until DevicesAttached=False/ServerLost -timeout 5m storage.yaml
//	passes -let-go storage.yaml
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/status"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
)

func main() {
	until := flag.String("until", "Ready=True", "condition to wait for: TYPE=STATUS or TYPE=STATUS/REASON")
	timeout := flag.Duration("timeout", 2*time.Minute, "how long to wait for it")
	every := flag.Duration("every", time.Second, "time between passes that change nothing")
	root := flag.String("root", "/", "where the node's / is")
	letGo := flag.Bool("let-go", false, "release the pool and its devices, as where the PgNodeStorage is deleted")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGTERM, syscall.SIGINT)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *timeout)
	defer cancel()
	a := loop{file: flag.Arg(0), node: agent.New(*root, &host.Exec{Root: strings.TrimSuffix(*root, "/")}), every: *every}
	err := a.load()
	switch {
	case err != nil:
	case *letGo:
		err = a.node.Release(ctx, &a.storage)
	default:
		err = a.passUntil(ctx, *until)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "passes:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to be cancelled
	}
}

type loop struct {
	file    string
	node    *agent.Node
	every   time.Duration
	storage v1alpha1.PgNodeStorage
}

func (a *loop) load() error {
	text, err := os.ReadFile(a.file)
	if err != nil {
		return err
	}
	if err := yaml.UnmarshalStrict(text, &a.storage); err != nil {
		return err
	}
	a.storage.Generation = max(1, a.storage.Generation)
	kept, err := os.ReadFile(a.file + ".status")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(kept, &a.storage.Status)
}

func (a *loop) passUntil(ctx context.Context, until string) error {
	for {
		changed, err := a.pass(ctx)
		if err != nil {
			return err
		}
		if a.holds(until) {
			return nil
		}
		if changed {
			continue
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s never held: %w", until, ctx.Err())
		case <-time.After(a.every):
		}
	}
}

// pass runs one pass, keeps its status, and prints each condition that changed. A pass that
// could not read the node does not end the loop.
func (a *loop) pass(ctx context.Context) (changed bool, err error) {
	s := &a.storage
	result, passErr := a.node.Pass(ctx, s)
	if passErr != nil {
		result.Status = *s.Status.DeepCopy()
		fmt.Println("pass:", passErr)
	}
	before := s.Status.Conditions
	result.Status.Conditions = status.Conditions(before, s.Generation, metav1.Now(), result.Outcomes)
	s.Status = result.Status
	for _, c := range s.Status.Conditions {
		was := meta.FindStatusCondition(before, c.Type)
		if was == nil || was.Status != c.Status || was.Reason != c.Reason || was.Message != c.Message {
			fmt.Printf("%s=%s/%s: %s\n", c.Type, c.Status, c.Reason, c.Message)
		}
	}
	kept, err := json.MarshalIndent(s.Status, "", "  ")
	if err != nil {
		return false, err
	}
	return result.Changed, os.WriteFile(a.file+".status", kept, 0o600)
}

func (a *loop) holds(until string) bool {
	want, reason, _ := strings.Cut(until, "/")
	kind, value, _ := strings.Cut(want, "=")
	c := meta.FindStatusCondition(a.storage.Status.Conditions, kind)
	return c != nil && string(c.Status) == value && (reason == "" || c.Reason == reason)
}
