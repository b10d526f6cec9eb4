// Command manager runs the controllers of pgstorage.
package main

import (
	"flag"
	"fmt"
	"os"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/rest"
	"k8s.io/component-base/featuregate"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	"sigs.k8s.io/controller-runtime/pkg/metrics/filters"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/controllers"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// version is set by the linker.
var version = "dev"

// matrixClusters lets a matrix have clusters of its own. Every alpha kind of storage has a
// gate of its name, too.
const matrixClusters featuregate.Feature = "MatrixClusters"

// readPools lets a PgStorageCluster have read pools.
const readPools featuregate.Feature = "ReadPools"

// sites lets a PgStorageCluster be one site of several.
const sites featuregate.Feature = "Sites"

// branches lets databases be branched.
const branches featuregate.Feature = "Branches"

type settings struct {
	leaderElect, showVersion bool
	metrics, probes          string
	qps                      float64
	burst                    int
	controllers              controllers.Options
	log                      zap.Options
}

func flags(set *flag.FlagSet, args []string) (settings, error) {
	s := settings{}
	set.BoolVar(&s.showVersion, "version", false, "print the version and exit")
	set.BoolVar(&s.leaderElect, "leader-elect", false, "elect a leader, so that only one of several replicas reconciles")
	set.StringVar(&s.metrics, "metrics-bind-address", ":8443", "address of the authenticated HTTPS metrics; 0 disables them")
	set.StringVar(&s.probes, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	set.Float64Var(&s.qps, "kube-api-qps", 100, "maximum requests per second to the API server")
	set.IntVar(&s.burst, "kube-api-burst", 200, "maximum burst of requests to the API server")
	set.IntVar(&s.controllers.MaxConcurrentReconciles, "max-concurrent-reconciles", 8, "maximum number of objects of one kind to reconcile at the same time")
	set.StringVar(&s.controllers.Config.ImageRepository, "postgres-image-repository", "ghcr.io/cloudnative-pg/postgresql", "repository of Postgres images; spec.postgres.version is the tag")
	set.StringVar(&s.controllers.Config.BenchImage, "bench-image", "", "image with the benchmark runner at /bench, and the watcher of sites at /site (required)")
	set.StringVar(&s.controllers.Operator.Image, "agent-image", "", "image with /agent, which supervises the servers of S3NBD profiles (required)")
	set.StringVar(&s.controllers.Operator.Namespace, "namespace", os.Getenv("POD_NAMESPACE"), "namespace of the manager, where the servers of S3NBD profiles run (required unless POD_NAMESPACE is set)")
	set.Func("pod-monitor-labels", "comma-separated list of NAME=VALUE: labels of the PodMonitors of clusters, by which your Prometheus selects them", func(text string) (err error) {
		s.controllers.Config.PodMonitorLabels, err = podMonitorLabels(text)
		return err
	})
	s.platform(set)
	gates := featuregate.NewFeatureGate()
	alpha := map[featuregate.Feature]featuregate.FeatureSpec{matrixClusters: {PreRelease: featuregate.Alpha}, readPools: {PreRelease: featuregate.Alpha}, sites: {PreRelease: featuregate.Alpha}, branches: {PreRelease: featuregate.Alpha}}
	var help strings.Builder
	help.WriteString("comma-separated list of NAME=true.")
	for _, kind := range catalog.All() {
		if about := kind.Hooks().Alpha; about != "" {
			alpha[featuregate.Feature(kind.Name())] = featuregate.FeatureSpec{PreRelease: featuregate.Alpha}
			fmt.Fprintf(&help, " %s (alpha, default false) enables profiles of that type; %s.", kind.Name(), about)
		}
	}
	if err := gates.Add(alpha); err != nil {
		return s, err
	}
	set.Func("feature-gates", help.String()+" MatrixClusters (alpha, default false) enables benchmarks with spec.template, which create PgStorageClusters and delete them with their data. ReadPools (alpha, default false) enables spec.readPools of PgStorageClusters, which does the same. Sites (alpha, default false) enables spec.topology of PgStorageClusters, beside each of which a StatefulSet watches the other sites. Branches (alpha, default false) enables PgStorageBranches, for each of which the manager makes VolumeSnapshots and a PgStorageCluster, and deletes both with their data", gates.Set)
	s.log.BindFlags(set)
	if err := set.Parse(args); err != nil {
		return s, err
	}
	s.controllers.Enabled = map[v1alpha1.ProfileType]bool{}
	for gate := range alpha {
		s.controllers.Enabled[v1alpha1.ProfileType(gate)] = gates.Enabled(gate)
	}
	s.controllers.MatrixClusters = gates.Enabled(matrixClusters)
	s.controllers.Config.ReadPools = gates.Enabled(readPools)
	s.controllers.Config.Sites = gates.Enabled(sites)
	s.controllers.Config.Branches = gates.Enabled(branches)
	return s, s.validate()
}

// podMonitorLabels returns the labels of a list such as release=prometheus,team=db.
func podMonitorLabels(text string) (map[string]string, error) {
	if text == "" {
		return nil, nil
	}
	found, err := labels.ConvertSelectorToLabelsMap(text)
	if err != nil {
		return nil, err
	}
	for name := range found {
		if name == naming.LabelManagedBy || strings.HasPrefix(name, v1alpha1.GroupVersion.Group+"/") {
			return nil, fmt.Errorf("label %s is set by the operator itself; choose another, as release", name)
		}
	}
	return found, nil
}

// openShift gives each namespace users of its own, and rejects pods that name another one.
const openShift = "OpenShift"

func (s *settings) platform(set *flag.FlagSet) {
	set.Func("platform", "platform of the Kubernetes cluster: Kubernetes, or OpenShift, where pods of benchmarks get their user from the namespace (default Kubernetes)", func(value string) error {
		if value != "Kubernetes" && value != openShift {
			return fmt.Errorf("unknown platform %q; set Kubernetes or OpenShift", value)
		}
		s.controllers.Config.PlatformUsers = value == openShift
		return nil
	})
}

// validate returns an error for a required flag that is not set.
func (s settings) validate() error {
	switch {
	case s.showVersion:
		return nil
	case s.controllers.Config.BenchImage == "":
		return fmt.Errorf("--bench-image is required; set it to the image of this operator, which contains /bench")
	case s.controllers.Operator.Image == "":
		return fmt.Errorf("--agent-image is required; set it to the image of this operator, which contains /agent")
	case s.controllers.Operator.Namespace == "":
		return fmt.Errorf("--namespace is required unless POD_NAMESPACE is set; set it to the namespace of the manager")
	}
	return nil
}

func main() {
	s, err := flags(flag.NewFlagSet("manager", flag.ContinueOnError), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if s.showVersion {
		fmt.Println("pgstorage", version)
		return
	}
	limitMemory(cgroupLimit)
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&s.log)))
	if err := run(s); err != nil {
		ctrl.Log.Error(err, "manager ended")
		os.Exit(1)
	}
}

func run(s settings) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	config.QPS, config.Burst = float32(s.qps), s.burst
	config.UserAgent = "pgstorage/" + version
	mgr, err := newManager(config, s)
	if err != nil {
		return err
	}
	s.controllers.Registry = metrics.Registry
	if err := controllers.Setup(mgr, s.controllers); err != nil {
		return err
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("healthz: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("readyz: %w", err)
	}
	return mgr.Start(ctrl.SetupSignalHandler())
}

func newManager(config *rest.Config, s settings) (ctrl.Manager, error) {
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                        scheme.New(),
		Cache:                         controllers.CacheOptions(s.controllers.Operator.Namespace),
		NewClient:                     apply.NewClient,
		Metrics:                       metricsserver.Options{BindAddress: s.metrics, SecureServing: true, FilterProvider: filters.WithAuthenticationAndAuthorization},
		HealthProbeBindAddress:        s.probes,
		LeaderElection:                s.leaderElect,
		LeaderElectionID:              "pgstorage.dev-manager",
		LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return nil, fmt.Errorf("manager: %w", err)
	}
	return mgr, nil
}
