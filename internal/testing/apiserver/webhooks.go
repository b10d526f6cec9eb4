package apiserver

import (
	"context"
	"crypto/tls"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/pgstorage/pgstorage/internal/testing/process"
)

// ServeWebhooks runs a program that serves the webhooks of an environment until the test ends.
func ServeWebhooks(t *testing.T, env *envtest.Environment, program string) {
	t.Helper()
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(kubeconfig, env.KubeConfig, 0o600); err != nil {
		t.Fatal(err)
	}
	at := env.WebhookInstallOptions
	address := net.JoinHostPort(at.LocalServingHost, strconv.Itoa(at.LocalServingPort))
	p, err := process.Start(exec.CommandContext(t.Context(), program, //nolint:gosec // a program that this repository builds
		"-server-kubeconfig", kubeconfig, "-host", at.LocalServingHost, "-port", strconv.Itoa(at.LocalServingPort), "-certificates", at.LocalServingCertDir))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.Kill() })
	err = p.UntilReady(t.Context(), 2*time.Minute, func(ctx context.Context) error {
		// The certificate is one of envtest's; only that something serves is of interest.
		dialer := tls.Dialer{Config: &tls.Config{InsecureSkipVerify: true}} //nolint:gosec // see above
		conn, err := dialer.DialContext(ctx, "tcp", address)
		if err != nil {
			return err
		}
		return conn.Close()
	})
	if err != nil {
		t.Fatal(err)
	}
}
