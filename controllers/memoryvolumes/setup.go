package memoryvolumes

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"github.com/pgstorage/pgstorage/controllers/backoff"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

const (
	// workers of claims, and as many of volumes. Each waits for agents, and does little.
	workers = 16
	// first is the delay after the first failed attempt.
	first = 500 * time.Millisecond
	// resync of the library's informers. Watches report every change.
	resync = time.Hour
)

// SetupWithManager has the leader provision volumes.
func (p *Provisioner) SetupWithManager(mgr ctrl.Manager) error {
	all, err := kubernetes.NewForConfigAndClient(mgr.GetConfig(), mgr.GetHTTPClient())
	if err != nil {
		return fmt.Errorf("client of claims and volumes: %w", err)
	}
	factory := informers.NewSharedInformerFactoryWithOptions(all, resync, informers.WithTransform(slim))
	claims := factory.Core().V1().PersistentVolumeClaims().Informer()
	volumes := factory.Core().V1().PersistentVolumes().Informer()
	return mgr.Add(leading(func(ctx context.Context) error {
		ctx = logr.NewContext(ctx, mgr.GetLogger().WithName("memoryvolumes"))
		provisioning := controller.NewProvisionController(ctx, all, naming.MemoryProvisioner, p,
			controller.LeaderElection(false), // the manager elects one
			controller.MetricsPort(0),
			controller.Threadiness(workers),
			controller.RateLimiter(workqueue.NewTypedItemExponentialFailureRateLimiter[string](first, backoff.Longest)),
			controller.ClaimsInformer(claims),
			controller.VolumesInformer(volumes),
		)
		factory.Start(ctx.Done())
		go p.sweep(ctx, claims, volumes)
		provisioning.Run(ctx)
		return nil
	}))
}

// leading runs on the manager that leads.
type leading func(context.Context) error

var _ manager.LeaderElectionRunnable = leading(nil)

// Start runs until the context ends.
func (f leading) Start(ctx context.Context) error { return f(ctx) }

// NeedLeaderElection is true: two would provision a claim twice.
func (leading) NeedLeaderElection() bool { return true }

// mostAnnotations of a claim of the provisioner, in bytes of names and values.
const mostAnnotations = 16 << 10

// slim drops what the library does not read: any user can make claims, of any class, with
// large annotations. Claims of the provisioner keep theirs, because the library gives one
// back to the scheduler with an update, which removes what the object lacks. One that has
// more than mostAnnotations is marked instead, and gets no volume.
func slim(obj any) (any, error) {
	switch o := obj.(type) {
	case *corev1.PersistentVolumeClaim:
		o.ManagedFields = nil
		o.Annotations = bounded(o)
		o.Status = corev1.PersistentVolumeClaimStatus{Phase: o.Status.Phase}
	case *corev1.PersistentVolume:
		o.ManagedFields = nil
	case metav1.Object:
		o.SetManagedFields(nil)
	}
	return obj, nil
}

// The annotations of a claim that name its provisioner. Kubernetes writes both.
const (
	provisioner     = "volume.kubernetes.io/storage-provisioner"
	provisionerBeta = "volume.beta.kubernetes.io/storage-provisioner"
)

func provisionedHere(claim *corev1.PersistentVolumeClaim) bool {
	return claim.Annotations[provisioner] == naming.MemoryProvisioner || claim.Annotations[provisionerBeta] == naming.MemoryProvisioner
}

func bounded(claim *corev1.PersistentVolumeClaim) map[string]string {
	if !provisionedHere(claim) {
		return kept(claim.Annotations)
	}
	delete(claim.Annotations, naming.AnnotationTooLarge)
	n := 0
	for name, value := range claim.Annotations {
		n += len(name) + len(value)
	}
	if n <= mostAnnotations {
		return claim.Annotations
	}
	out := kept(claim.Annotations)
	out[naming.AnnotationTooLarge] = strconv.Itoa(n)
	return out
}

// read are the annotations of claims by which the library finds its own.
var read = []string{
	naming.AnnotationSelectedNode, provisioner, provisionerBeta,
	"volume.beta.kubernetes.io/storage-class", "volume.kubernetes.io/migrated-to", "pv.kubernetes.io/migrated-to",
}

func kept(annotations map[string]string) map[string]string {
	out := map[string]string{}
	for _, name := range read {
		if v, found := annotations[name]; found {
			out[name] = v
		}
	}
	return out
}

var _ cache.TransformFunc = slim
