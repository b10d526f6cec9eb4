// Command agent makes one node's ZFS pools, datasets and volumes in memory as its
// PgNodeStorages declare, and reports what it reads back.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	_ "golang.org/x/crypto/x509roots/fallback" // the image has no certificates of its own
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/discovery"
	"k8s.io/client-go/rest"
	"k8s.io/utils/clock"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics"
	metricsserver "sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/pgstorage/pgstorage/controllers/pgnodestorage"
	"github.com/pgstorage/pgstorage/controllers/recorder"
	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/node/agent"
	"github.com/pgstorage/pgstorage/internal/node/host"
	"github.com/pgstorage/pgstorage/internal/node/metricsauth"
)

// version is set by the linker.
var version = "dev"

// startPatience with an API server that does not answer yet: less than the 55 s after
// which the liveness probe fails.
const startPatience = 45 * time.Second

type settings struct {
	dryRun, showVersion            bool
	nodeName, root, metrics, probe string
	resync, timeout                time.Duration
	log                            zap.Options
}

func flags(set *flag.FlagSet, args []string) (settings, error) {
	s := settings{}
	set.BoolVar(&s.showVersion, "version", false, "print the version and exit")
	set.BoolVar(&s.dryRun, "dry-run", false, "print the commands that change the node without running them")
	set.StringVar(&s.nodeName, "node-name", os.Getenv("NODE_NAME"), "name of the Node of this agent (required unless NODE_NAME is set)")
	set.StringVar(&s.root, "root", "/host", "mount path of the root file system of the node")
	set.StringVar(&s.metrics, "metrics-bind-address", ":8443", "address of the authenticated HTTPS metrics; 0 disables them")
	set.StringVar(&s.probe, "health-probe-bind-address", ":8081", "address of /healthz and /readyz")
	set.DurationVar(&s.resync, "resync", 30*time.Second, "interval between checks of a node that matches its spec")
	set.DurationVar(&s.timeout, "command-timeout", host.DefaultTimeout, "timeout of each command on the node")
	s.log.BindFlags(set)
	if err := set.Parse(args); err != nil {
		return s, err
	}
	if !s.showVersion && s.nodeName == "" {
		return s, fmt.Errorf("--node-name is required unless NODE_NAME is set; set it to the Node of this agent")
	}
	return s, nil
}

func main() {
	if code, done := subcommand(os.Args[1:]); done {
		os.Exit(code)
	}
	s, err := flags(flag.NewFlagSet("agent", flag.ContinueOnError), os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	if s.showVersion {
		fmt.Println("pgstorage agent", version)
		return
	}
	ctrl.SetLogger(zap.New(zap.UseFlagOptions(&s.log)))
	if err := run(ctrl.SetupSignalHandler(), s); err != nil {
		ctrl.Log.Error(err, "agent ended")
		os.Exit(1)
	}
}

func run(ctx context.Context, s settings) error {
	config, err := ctrl.GetConfig()
	if err != nil {
		return fmt.Errorf("kubeconfig: %w", err)
	}
	config.UserAgent = "pgstorage-agent/" + version
	lock, err := start(ctx, config, s)
	if err != nil {
		return err
	}
	defer lock.Close() //nolint:errcheck // with the process at the latest
	mgr, err := ctrl.NewManager(config, ctrl.Options{
		Scheme:                 pgnodestorage.Scheme(),
		Cache:                  pgnodestorage.CacheOptions(s.nodeName),
		NewClient:              apply.NewClient,
		Metrics:                metricsserver.Options{BindAddress: s.metrics, SecureServing: true, FilterProvider: metricsauth.Filter},
		HealthProbeBindAddress: s.probe,
		// A change that runs is let end: making a pool takes ten times a command's time.
		GracefulShutdownTimeout: new(host.SlowFactor * s.timeout),
	})
	if err != nil {
		return fmt.Errorf("manager: %w", err)
	}
	counter := host.Counting(runner(s))
	machine := agent.New(s.root, counter)
	if s.dryRun {
		machine.DryRun = report
	}
	gauges := pgnodestorage.NewMetrics(metrics.Registry, counter)
	metrics.Registry.MustRegister(&pgnodestorage.LatencyCollector{ZFS: machine.ZFS, Loaded: machine.Kernel.Loaded})
	reconciler := &pgnodestorage.Reconciler{
		Client: mgr.GetClient(), Node: machine, NodeName: s.nodeName, Resync: s.resync, Clock: clock.RealClock{},
		Events: recorder.Bounded(mgr.GetEventRecorder("pgstorage-agent")), Observe: gauges.Observe, Forget: gauges.Forget,
	}
	if err := reconciler.SetupWithManager(mgr, pgnodestorage.Options()); err != nil {
		return fmt.Errorf("set up pgnodestorage: %w", err)
	}
	if err := mgr.AddHealthzCheck("healthz", healthz.Ping); err != nil {
		return fmt.Errorf("healthz: %w", err)
	}
	if err := mgr.AddReadyzCheck("readyz", healthz.Ping); err != nil {
		return fmt.Errorf("readyz: %w", err)
	}
	return mgr.Start(ctx)
}

// start as the only agent of the node, once the API server answers. A dry run changes
// nothing, and may be another.
func start(ctx context.Context, config *rest.Config, s settings) (io.Closer, error) {
	ctx, cancel := context.WithTimeout(ctx, startPatience)
	defer cancel()
	if err := await(ctx, config); err != nil || s.dryRun {
		return io.NopCloser(nil), err
	}
	return agent.LockNode(ctx, s.root)
}

// await an answer of the API server. On a node that boots, the agent starts before the
// network. A restart of its container takes longer each time.
func await(ctx context.Context, config *rest.Config) error {
	asking := rest.CopyConfig(config)
	asking.Timeout = 5 * time.Second
	api, err := discovery.NewDiscoveryClientForConfig(asking)
	if err != nil {
		return fmt.Errorf("client of the API server: %w", err)
	}
	var last error
	err = wait.PollUntilContextCancel(ctx, time.Second, true, func(context.Context) (bool, error) {
		_, last = api.ServerVersion()
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("the API server did not answer within %s: %w", startPatience, errors.Join(last, err))
	}
	return nil
}

func runner(s settings) host.Runner {
	var r host.Runner = &host.Exec{Root: s.root, Timeout: s.timeout}
	if s.dryRun {
		r = host.DryRun(r, report)
	}
	return r
}

// report of a dry run.
func report(argv []string) { fmt.Println("would run:", strings.Join(argv, " ")) }
