package integration

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/manager"
)

// The API server is killed and started again under a manager, which continues without help.
// Existing objects stay as they were, and later declarations are applied.
func TestManagerSurvivesARestartOfTheAPIServer(t *testing.T) {
	env, stop, err := apiserver.Start(apiserver.Everything)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := stop(); err != nil {
			t.Error(err)
		}
	})
	// The second server ends after what is removed from it.
	end := func() {}
	t.Cleanup(func() { end() })
	c := apiserver.Client(t, env.Config)
	w := &writes{}
	manager.Start(t, w.into(env.Config))
	ns := namespace(t, c)
	storage(t, c, "restarted")
	before := cluster(ns, "before", "restarted")
	create(t, c, before)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(before))
	hasCondition(t, c, before, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	database := &cnpgv1.Cluster{}
	get(t, c, client.ObjectKeyFromObject(before), database)
	settledAt := settled(t, w)

	end = restart(t, env.Config)

	eventually(t, "the API server", func(ctx context.Context) error {
		return c.Get(ctx, client.ObjectKeyFromObject(before), before)
	})
	after := cluster(ns, "after", "restarted")
	create(t, c, after)
	simulatedHealthy(t, c, client.ObjectKeyFromObject(after))
	hasCondition(t, c, after, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	hasCondition(t, c, before, v1alpha1.ConditionReady, metav1.ConditionTrue, v1alpha1.ReasonReady)
	still := &cnpgv1.Cluster{}
	get(t, c, client.ObjectKeyFromObject(before), still)
	if still.UID != database.UID || still.Generation != database.Generation {
		t.Errorf("the database was written or made again: %s generation %d, was %s generation %d", still.UID, still.Generation, database.UID, database.Generation)
	}
	if n := settled(t, w) - settledAt; n > 16 {
		t.Errorf("%d writes since the restart, for one new cluster", n)
	}
}

// restart kills the API server at an address and runs its command line again, until end is called.
func restart(t *testing.T, config *rest.Config) (end func()) {
	t.Helper()
	pid, argv := serverAt(t, config)
	process, err := os.FindProcess(pid)
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Kill(); err != nil {
		t.Fatal(err)
	}
	c := apiserver.Client(t, config)
	eventually(t, "the API server to be gone", func(ctx context.Context) error {
		if err := c.List(ctx, &v1alpha1.PgStorageProfileList{}); err == nil {
			return fmt.Errorf("it answers")
		}
		return nil
	})
	again := exec.Command(argv[0], argv[1:]...)
	again.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if err := again.Start(); err != nil {
		t.Fatal(err)
	}
	return func() {
		_ = again.Process.Kill()
		_ = again.Wait()
	}
}

// serverAt finds the API server by its port among this process's children.
func serverAt(t *testing.T, config *rest.Config) (pid int, argv []string) {
	t.Helper()
	address, _, err := rest.DefaultServerUrlFor(config)
	if err != nil {
		t.Fatal(err)
	}
	port := address.Port()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range lines {
		line, err := os.ReadFile(file)
		if err != nil || !bytes.Contains(line, []byte("--secure-port="+port)) {
			continue
		}
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil {
			t.Fatal(err)
		}
		for arg := range bytes.SplitSeq(bytes.TrimSuffix(line, []byte{0}), []byte{0}) {
			argv = append(argv, string(arg))
		}
		return pid, argv
	}
	t.Fatalf("no process serves port %s", port)
	return 0, nil
}
