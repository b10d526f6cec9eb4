package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// Values of --dry-run, as kubectl's.
const (
	dryNone   = "none"
	dryClient = "client"
	dryServer = "server"
)

// startOptions are the flags of bench start. What is not given is left to the API
// server's defaults.
type startOptions struct {
	name, dryRun string
	script       string
	protocol     string
	integrity    string
	cleanup      string
	jobs         int32
	transactions int32
	rate         int32
	spec         v1alpha1.PgbenchSpec
	clients      []int32
	wait         bool
	follow       followOptions
}

func (a *app) benchStart() *cobra.Command {
	o, s := &output{}, &startOptions{}
	c := &cobra.Command{
		Use:   "start CLUSTER",
		Short: "Start a benchmark of a database",
		Long: `Start a benchmark of a database.

Makes a PgBenchmark, with a name of its own unless --name says one. It runs once
the database is Ready, its spec.benchmarkPolicy admits it, and no other benchmark
of it does. What is not given has
the default of the API: kubectl explain pgb.spec.pgbench. Scripts of your own,
and resources of the runner, are for a file: take --dry-run=client -o yaml as its
beginning.`,
		Example: `  kubectl pgstorage bench start shop
  kubectl pgstorage bench start shop --scale 100 --clients 1,16,64 --duration 5m --repeats 5 --follow
  kubectl pgstorage bench start shop --script SelectOnly --transactions 10000
  kubectl pgstorage bench start shop --dry-run=client -o yaml > benchmark.yaml`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: a.completeFirst("PgStorageCluster"),
		RunE: func(c *cobra.Command, args []string) error {
			if err := zeroes(c.Flags()); err != nil {
				return err
			}
			return a.start(c.Context(), args[0], s, o)
		},
	}
	o.flag(c)
	s.flags(c)
	return c
}

func (s *startOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.name, "name", "", "name of the PgBenchmark; by default that of the cluster with something behind it")
	f.Int32Var(&s.spec.Scale, "scale", 0, "scale of pgbench's tables, about 16 MB each")
	f.Int32SliceVar(&s.clients, "clients", nil, "client counts, each measured in turn")
	f.StringVar(&s.spec.Duration, "duration", "", "of each run, as 5m")
	f.Int32Var(&s.transactions, "transactions", 0, "of each client in each run, in place of a duration")
	f.StringVar(&s.spec.WarmUp, "warm-up", "", "before the first run, as 30s")
	f.Int32Var(&s.spec.Repeats, "repeats", 0, "of the whole list of client counts; the result is the median")
	f.StringVar(&s.script, "script", "", "TPCB, SimpleUpdate or SelectOnly")
	f.StringVar(&s.protocol, "protocol", "", "Simple, Extended or Prepared")
	f.Int32Var(&s.jobs, "jobs", 0, "threads of pgbench")
	f.Int32Var(&s.rate, "rate", 0, "target of transactions per second; by default as fast as possible")
	f.Int32Var(&s.spec.MaxTries, "max-tries", 0, "of a transaction that fails with a serialization error or a deadlock")
	f.StringVar(&s.integrity, "integrity", "", "checks after the run: Full or Basic")
	f.StringVar(&s.cleanup, "cleanup", "", "of database, role and Job: Always, OnSuccess or Never")
	f.StringVar(&s.dryRun, "dry-run", dryNone, "client: print the object and ask no cluster; server: have the API server check it")
	f.BoolVar(&s.wait, "follow", false, "show how far it is until it ends, and the result")
	s.follow.flags(c)
	complete(c, "script", string(v1alpha1.ScriptTPCB), string(v1alpha1.ScriptSimpleUpdate), string(v1alpha1.ScriptSelectOnly))
	complete(c, "protocol", string(v1alpha1.ProtocolSimple), string(v1alpha1.ProtocolExtended), string(v1alpha1.ProtocolPrepared))
	complete(c, "integrity", string(v1alpha1.IntegrityFull), string(v1alpha1.IntegrityBasic))
	complete(c, "cleanup", string(v1alpha1.CleanupAlways), string(v1alpha1.CleanupOnSuccess), string(v1alpha1.CleanupNever))
	complete(c, "dry-run", dryNone, dryClient, dryServer)
}

// benchmark that the flags describe.
func (s *startOptions) benchmark(namespace, cluster string) *v1alpha1.PgBenchmark {
	b := &v1alpha1.PgBenchmark{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgBenchmark"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: s.name},
		Spec:       v1alpha1.PgBenchmarkSpec{Cluster: cluster, Pgbench: s.spec},
	}
	if s.name == "" {
		// A PgBenchmark's name has 50 characters at most, five of them the API server's.
		const most = 50 - 5 - 1
		b.GenerateName = cluster[:min(len(cluster), most)] + "-"
	}
	p := &b.Spec.Pgbench
	p.Clients = s.clients
	p.Script, p.Protocol = v1alpha1.Script(s.script), v1alpha1.Protocol(s.protocol)
	p.Integrity, p.Cleanup = v1alpha1.IntegrityMode(s.integrity), v1alpha1.CleanupPolicy(s.cleanup)
	p.Jobs, p.Transactions, p.Rate = given(s.jobs), given(s.transactions), given(s.rate)
	return b
}

// zeroes refuses a number that was given as 0: the API would take its default.
func zeroes(flags *pflag.FlagSet) error {
	var wrong []error
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "int32" && f.Value.String() == "0" {
			wrong = append(wrong, fmt.Errorf("--%s: 0 is not possible; give 1 or more, or leave it out for the default", f.Name))
		}
	})
	return errors.Join(wrong...)
}

// admitted checks a benchmark as an API server does, which gives a name where there
// is only the beginning of one. The benchmark stays as it is.
func admitted(ctx context.Context, b *v1alpha1.PgBenchmark) error {
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		return fmt.Errorf("convert the PgBenchmark: %w", err)
	}
	o := &unstructured.Unstructured{Object: content}
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + "x7k2p")
	}
	return schemas.Admit(ctx, o)
}

// given is a number, or nothing where the flag was not.
func given(n int32) *int32 {
	if n == 0 {
		return nil
	}
	return &n
}

func (a *app) start(ctx context.Context, cluster string, s *startOptions, o *output) error {
	namespace, err := a.namespace()
	if err != nil {
		return err
	}
	b := s.benchmark(namespace, cluster)
	switch s.dryRun {
	case dryClient:
		return a.dryRun(ctx, b, o)
	case dryNone, dryServer:
	default:
		return fmt.Errorf("--dry-run: %q is not known; use none, client or server", s.dryRun)
	}
	c, err := a.client()
	if err != nil {
		return err
	}
	if err := a.create(ctx, c, b, s, o); err != nil || !s.wait || s.dryRun == dryServer {
		return err
	}
	return a.follow(ctx, c, client.ObjectKeyFromObject(b), s.follow)
}

// dryRun checks the benchmark as render does, and prints it.
func (a *app) dryRun(ctx context.Context, b *v1alpha1.PgBenchmark, o *output) error {
	if err := admitted(ctx, b); err != nil {
		return err
	}
	if o.format == "" {
		o.format = "yaml"
	}
	return o.print(a.streams.Out, b, nil)
}

// create the benchmark, and tell its name.
func (a *app) create(ctx context.Context, c client.Client, b *v1alpha1.PgBenchmark, s *startOptions, o *output) error {
	key := client.ObjectKey{Namespace: b.Namespace, Name: b.Spec.Cluster}
	cluster := &v1alpha1.PgStorageCluster{}
	if err := c.Get(ctx, key, cluster); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return fmt.Errorf("there is no PgStorageCluster %s in namespace %s; kubectl get pgsc -A lists those that do exist", key.Name, key.Namespace)
		}
		return fmt.Errorf("read PgStorageCluster %s: %w", key, err)
	}
	var options []client.CreateOption
	told := "created"
	if s.dryRun == dryServer {
		options, told = append(options, client.DryRunAll), "created (server dry run)"
	}
	if err := c.Create(ctx, b, options...); err != nil {
		return fmt.Errorf("create PgBenchmark: %w", err)
	}
	b.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind("PgBenchmark"))
	text := fmt.Sprintf("pgbenchmark.pgstorage.dev/%s %s\n", b.Name, told)
	if !benchmarks.Admits(cluster, b) {
		text += "Waiting for consent: " + benchmarks.NeedsConsent(b.Namespace, cluster.Name) + "\n"
	}
	if s.dryRun != dryServer && !s.wait {
		text += fmt.Sprintf("Follow it by: kubectl pgstorage bench follow %s -n %s\n", b.Name, b.Namespace)
	}
	return o.print(a.streams.Out, b, plain(text))
}
