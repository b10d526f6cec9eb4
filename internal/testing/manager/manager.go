// Package manager runs our controllers in a test's own process.
package manager

import (
	"context"
	"sync"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	ctrl "sigs.k8s.io/controller-runtime"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/decide/clusters"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

// patience bounds how long a manager may take to end.
const patience = time.Minute

// Namespace that the manager takes for its own.
const Namespace = "default"

// Start runs a manager, configured as ours is and with all experimental features, until stop is
// called or the test ends. Stopping a manager that already ended with an error fails the test.
func Start(t *testing.T, config *rest.Config, changes ...func(*controllers.Options)) (stop func()) {
	t.Helper()
	mgr, err := ctrl.NewManager(rest.CopyConfig(config), ctrl.Options{
		Scheme:    scheme.New(),
		Cache:     controllers.CacheOptions(Namespace),
		Metrics:   metricsserver.Options{BindAddress: "0"},
		NewClient: apply.NewClient,
	})
	if err != nil {
		t.Fatal(err)
	}
	options := controllers.Options{
		Config:             clusters.Config{ImageRepository: "registry.example/postgresql", BenchImage: "registry.example/pgstorage:test", ReadPools: true, Sites: true, Branches: true},
		Operator:           observed.Operator{Namespace: Namespace, Image: "registry.example/pgstorage:test"},
		Enabled:            map[v1alpha1.ProfileType]bool{v1alpha1.ProfileTypeS3NBD: true, v1alpha1.ProfileTypeMemory: true},
		MatrixClusters:     true,
		SkipNameValidation: true,
	}
	for _, change := range changes {
		change(&options)
	}
	if err := controllers.Setup(mgr, options); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	stop = sync.OnceFunc(func() {
		cancel()
		select {
		case err := <-done:
			if err != nil {
				t.Errorf("manager ended: %v", err)
			}
		case <-time.After(patience):
			t.Error("manager did not end")
		}
	})
	t.Cleanup(stop)
	return stop
}
