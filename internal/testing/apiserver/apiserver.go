// Package apiserver starts a real kube-apiserver and etcd for tests. It installs our CRDs and
// the real CRDs of the operators that we use, taken from their Go modules.
package apiserver

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/zap/zapcore"
	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/testing/process"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

const cnpgModule = "github.com/cloudnative-pg/cloudnative-pg"

// CRDs chooses which CRDs are installed: ours, and these foreign ones.
type CRDs struct {
	CNPG, ObjectStores, PodMonitors, ZFSLocalPV, VolumeSnapshots, Rook bool
	// WithoutOurs omits our own CRDs.
	WithoutOurs bool
	// CNPGVersion installs CloudNativePG's CRDs and registers its webhooks of that version,
	// as v1.28.1. Default: the CRDs of the version in go.mod, without webhooks.
	CNPGVersion string
	// RookVersion chooses the version of Rook's CRDs, as v1.18.8. Default: the one in
	// hack/crds/go.mod.
	RookVersion string
}

// at returns a module, with the version if one is chosen.
func at(module, version string) string {
	if version == "" {
		return module
	}
	return module + "@" + version
}

// Everything installs all of them but Rook's, which are large and of one profile type.
var Everything = CRDs{CNPG: true, ObjectStores: true, PodMonitors: true, ZFSLocalPV: true, VolumeSnapshots: true}

// Start runs an API server until stop is called. KUBEBUILDER_ASSETS names the
// folder of its binaries; without it, tests fail rather than skip.
func Start(crds CRDs) (env *envtest.Environment, stop func() error, err error) {
	if os.Getenv("KUBEBUILDER_ASSETS") == "" {
		return nil, nil, fmt.Errorf("KUBEBUILDER_ASSETS is not set; run make test-integration")
	}
	paths, err := Foreign(crds)
	if err != nil {
		return nil, nil, err
	}
	if !crds.WithoutOurs {
		paths = append(paths, filepath.Join(repository.Root(), "config", "crd", "bases"))
	}
	env = &envtest.Environment{
		CRDDirectoryPaths: paths, ErrorIfCRDPathMissing: true, Scheme: scheme.New(),
		// It does not hurry to end open watches.
		ControlPlaneStopTimeout: 2 * time.Minute,
	}
	if crds.CNPGVersion != "" {
		dir, err := module(at(cnpgModule, crds.CNPGVersion))
		if err != nil {
			return nil, nil, err
		}
		env.WebhookInstallOptions.Paths = []string{filepath.Join(dir, "config", "webhook", "manifests.yaml")}
	}
	if err := launch(env); err != nil {
		return nil, nil, fmt.Errorf("start API server: %w", err)
	}
	env.Config.QPS, env.Config.Burst = 500, 1000
	return env, env.Stop, nil
}

// launch starts an environment whose programs end with this process, however it ends. envtest
// puts them into process groups of their own, so neither an interruption nor the end of the test
// reaches them.
func launch(env *envtest.Environment) error {
	dir, err := os.MkdirTemp("", "pgstorage-apiserver-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	env.ControlPlane.Etcd = &envtest.Etcd{}
	for name, path := range map[string]*string{"etcd": &env.ControlPlane.Etcd.Path, "kube-apiserver": &env.ControlPlane.GetAPIServer().Path} {
		if *path, err = process.Tied(dir, filepath.Join(os.Getenv("KUBEBUILDER_ASSETS"), name)); err != nil {
			return err
		}
	}
	return process.Lasting(func() error {
		_, err := env.Start()
		return err
	})
}

// Run runs a package's tests with one API server, whose address it puts in
// config, and returns the exit code.
func Run(m *testing.M, config **rest.Config) int {
	ctrl.SetLogger(zap.New(zap.UseDevMode(true), zap.Level(zapcore.ErrorLevel)))
	env, stop, err := Start(Everything)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	*config = env.Config
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// Foreign returns the paths of foreign CRDs in the module cache.
func Foreign(crds CRDs) ([]string, error) {
	var paths []string
	for _, foreign := range []struct {
		wanted       bool
		module, path string
	}{
		{crds.CNPG, at(cnpgModule, crds.CNPGVersion), "config/crd/bases"},
		{crds.ObjectStores, "github.com/cloudnative-pg/plugin-barman-cloud", "config/crd/bases"},
		{crds.PodMonitors, "github.com/prometheus-operator/prometheus-operator", "example/prometheus-operator-crd/monitoring.coreos.com_podmonitors.yaml"},
		{crds.ZFSLocalPV, "github.com/openebs/zfs-localpv", "deploy/yamls/zfsnode-crd.yaml"},
		{crds.ZFSLocalPV, "github.com/openebs/zfs-localpv", "deploy/yamls/zfsvolume-crd.yaml"},
		{crds.VolumeSnapshots, "github.com/kubernetes-csi/external-snapshotter/client/v8", "config/crd/snapshot.storage.k8s.io_volumesnapshotclasses.yaml"},
		{crds.VolumeSnapshots, "github.com/kubernetes-csi/external-snapshotter/client/v8", "config/crd/snapshot.storage.k8s.io_volumesnapshots.yaml"},
		{crds.Rook, at("github.com/rook/rook", crds.RookVersion), "deploy/examples/crds.yaml"},
	} {
		if !foreign.wanted {
			continue
		}
		dir, err := module(foreign.module)
		if err != nil {
			return nil, err
		}
		paths = append(paths, filepath.Join(dir, filepath.FromSlash(foreign.path)))
	}
	return paths, nil
}

// module finds the folder of a module. The version is that in its path, or else the one
// that go.mod or the list of CRD modules pins. It downloads a module that the cache lacks.
func module(path string) (string, error) {
	if strings.Contains(path, "@") {
		return download(path)
	}
	for _, modfile := range []string{"go.mod", filepath.Join("hack", "crds", "go.mod")} {
		if dir, err := download("-modfile="+filepath.Join(repository.Root(), modfile), path); err == nil {
			return dir, nil
		}
	}
	return "", fmt.Errorf("no module %s in go.mod or hack/crds/go.mod", path)
}

// download returns the folder of one module.
func download(arguments ...string) (string, error) {
	cmd := exec.Command("go", append([]string{"mod", "download", "-json"}, arguments...)...) //nolint:gosec // the callers' arguments are fixed
	cmd.Dir = repository.Root()
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("go mod download %s: %w", strings.Join(arguments, " "), err)
	}
	found := struct{ Dir string }{}
	if err := json.Unmarshal(out, &found); err != nil || found.Dir == "" {
		return "", fmt.Errorf("go mod download %s names no folder: %s", strings.Join(arguments, " "), out)
	}
	return found.Dir, nil
}

// Client of an environment, with strict field validation.
func Client(t testing.TB, config *rest.Config) client.Client {
	t.Helper()
	c, err := apply.NewClient(config, client.Options{Scheme: scheme.New()})
	if err != nil {
		t.Fatal(err)
	}
	return c
}
