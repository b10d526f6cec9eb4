package integration

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// mostIdleMemory of an agent: of all that is in memory, the pages of its program too.
const mostIdleMemory = 40 << 20

// runAgent builds the agent as its image has it, and starts it as a process of its own.
func runAgent(t *testing.T, name string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	program := filepath.Join(dir, "agent")
	build := exec.CommandContext(t.Context(), "go", "build", "-ldflags", "-s -w", "-o", program, "./cmd/agent")
	build.Dir, build.Env = repository.Root(), append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the agent: %v\n%s", err, out)
	}
	kubeconfig := filepath.Join(dir, "kubeconfig")
	if err := clientcmd.WriteToFile(reachedBy(config), kubeconfig); err != nil {
		t.Fatal(err)
	}
	var log bytes.Buffer
	agent := exec.CommandContext(t.Context(), program, "--root=/", "--dry-run", "--node-name="+name, "--resync=1s",
		"--metrics-bind-address=127.0.0.1:0", "--health-probe-bind-address=127.0.0.1:0")
	agent.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	agent.Stdout, agent.Stderr = &log, &log
	agent.Cancel = func() error { return agent.Process.Signal(os.Interrupt) }
	agent.WaitDelay = 20 * time.Second
	if err := agent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := agent.Wait(); err != nil && !agent.ProcessState.Success() {
			t.Errorf("the agent ended with %v\n%s", err, log.String())
		}
	})
	return agent
}

// reachedBy is a kubeconfig for what config reaches.
func reachedBy(config *rest.Config) clientcmdapi.Config {
	k := clientcmdapi.NewConfig()
	k.Clusters["test"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	k.AuthInfos["test"] = &clientcmdapi.AuthInfo{ClientCertificateData: config.CertData, ClientKeyData: config.KeyData}
	k.Contexts["test"] = &clientcmdapi.Context{Cluster: "test", AuthInfo: "test"}
	k.CurrentContext = "test"
	return *k
}

// The agent is on every storage node, so its memory is paid for on each.
func TestIdleAgentStaysWithinItsMemory(t *testing.T) {
	c := apiserver.Client(t, config)
	agent := runAgent(t, "memory")
	for i := range 10 {
		s := agentStorage(fmt.Sprintf("memory.%d", i), "memory")
		create(t, c, s)
		eventually(t, "an answer", func(ctx context.Context) error {
			if err := c.Get(ctx, client.ObjectKeyFromObject(s), s); err != nil {
				return err
			}
			if s.Status.ObservedGeneration != s.Generation {
				return fmt.Errorf("status %+v", s.Status)
			}
			return nil
		})
	}
	memory := process(t, agent.Process.Pid)
	t.Logf("VmRSS %d KiB, of which RssAnon %d KiB, RssFile %d KiB", memory["VmRSS"]>>10, memory["RssAnon"]>>10, memory["RssFile"]>>10)
	if got := memory["VmRSS"]; got == 0 || got > mostIdleMemory {
		t.Errorf("the idle agent takes %d bytes of memory, more than %d", got, mostIdleMemory)
	}
}

// process reads /proc/PID/status; amounts are in bytes.
func process(t *testing.T, pid int) map[string]int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]int64{}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, rest, _ := strings.Cut(lines.Text(), ":")
		var kib int64
		if n, _ := fmt.Sscanf(strings.TrimSpace(rest), "%d kB", &kib); n == 1 {
			out[name] = kib << 10
		}
	}
	return out
}
