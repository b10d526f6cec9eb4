package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/operator/decide/benchmarks"
)

// startOptions are the flags of bench start. The API server sets the defaults of those
// that are not set.
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
	c := benchStartHelp.command()
	c.Args = cobra.ExactArgs(1)
	c.ValidArgsFunction = a.completeFirst("PgStorageCluster")
	c.RunE = func(c *cobra.Command, args []string) error {
		if err := errors.Join(rejectZeros(c.Flags()), o.validate()); err != nil {
			return err
		}
		if o.format != "" && s.wait && s.dryRun == dryNone {
			return errors.New("--output needs --dry-run or no --follow, because the progress is text")
		}
		return a.start(c.Context(), args[0], s, o)
	}
	o.createFlag(c)
	s.flags(c)
	return c
}

func (s *startOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringVar(&s.name, "name", "", "name of the PgBenchmark (default: the cluster name plus a random suffix)")
	f.Int32Var(&s.spec.Scale, "scale", 0, "scale factor of the pgbench tables; each unit is about 16 MB")
	f.Int32SliceVar(&s.clients, "clients", nil, "client counts to measure, one after the other")
	f.StringVar(&s.spec.Duration, "duration", "", "duration of each run, such as 5m")
	f.Int32Var(&s.transactions, "transactions", 0, "transactions of each client in each run, instead of a duration")
	f.StringVar(&s.spec.WarmUp, "warm-up", "", "duration of the warm-up before the first run, such as 30s")
	f.Int32Var(&s.spec.Repeats, "repeats", 0, "repeats of the whole list of client counts; the result is the median")
	f.StringVar(&s.script, "script", "", "built-in script: TPCB, SimpleUpdate or SelectOnly")
	f.StringVar(&s.protocol, "protocol", "", "query protocol: Simple, Extended or Prepared")
	f.Int32Var(&s.jobs, "jobs", 0, "pgbench threads")
	f.Int32Var(&s.rate, "rate", 0, "target rate in transactions per second (default: unlimited)")
	f.Int32Var(&s.spec.MaxTries, "max-tries", 0, "maximum tries of a transaction that fails with a serialization error or a deadlock")
	f.StringVar(&s.integrity, "integrity", "", "integrity checks after the run: Full or Basic")
	f.StringVar(&s.cleanup, "cleanup", "", "deletion of the database, role and Job: Always, OnSuccess or Never")
	dryRunFlag(c, &s.dryRun)
	f.BoolVar(&s.wait, "follow", false, "show the progress until the benchmark ends, and then its result")
	s.follow.flags(c)
	complete(c, "script", string(v1alpha1.ScriptTPCB), string(v1alpha1.ScriptSimpleUpdate), string(v1alpha1.ScriptSelectOnly))
	complete(c, "protocol", string(v1alpha1.ProtocolSimple), string(v1alpha1.ProtocolExtended), string(v1alpha1.ProtocolPrepared))
	complete(c, "integrity", string(v1alpha1.IntegrityFull), string(v1alpha1.IntegrityBasic))
	complete(c, "cleanup", string(v1alpha1.CleanupAlways), string(v1alpha1.CleanupOnSuccess), string(v1alpha1.CleanupNever))
}

// benchmark returns the PgBenchmark that the flags describe.
func (s *startOptions) benchmark(namespace, cluster string) *v1alpha1.PgBenchmark {
	b := &v1alpha1.PgBenchmark{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: "PgBenchmark"},
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: s.name},
		Spec:       v1alpha1.PgBenchmarkSpec{Cluster: cluster, Pgbench: s.spec},
	}
	if s.name == "" {
		// The API limits a name to 50 characters; the API server appends five.
		const most = 50 - 5 - 1
		b.GenerateName = cluster[:min(len(cluster), most)] + "-"
	}
	p := &b.Spec.Pgbench
	p.Clients = s.clients
	p.Script, p.Protocol = v1alpha1.Script(s.script), v1alpha1.Protocol(s.protocol)
	p.Integrity, p.Cleanup = v1alpha1.IntegrityMode(s.integrity), v1alpha1.CleanupPolicy(s.cleanup)
	p.Jobs, p.Transactions, p.Rate = optional(s.jobs), optional(s.transactions), optional(s.rate)
	return b
}

// rejectZeros rejects a number that is set to 0: the API would replace it by its default.
func rejectZeros(flags *pflag.FlagSet) error {
	var wrong []error
	flags.Visit(func(f *pflag.Flag) {
		if f.Value.Type() == "int32" && f.Value.String() == "0" {
			wrong = append(wrong, fmt.Errorf("--%s must be 1 or more; omit it for the default", f.Name))
		}
	})
	return errors.Join(wrong...)
}

// optional returns nil for a flag that is not set.
func optional(n int32) *int32 {
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
	c, err := a.create(ctx, &creation{
		object: b, dryRun: s.dryRun, cluster: cluster,
		consent: func(target *v1alpha1.PgStorageCluster) string {
			if benchmarks.Admits(target, b) {
				return ""
			}
			return benchmarks.NeedsConsent(namespace, cluster)
		},
		hint: "Follow it with: kubectl pgstorage bench follow %s -n %s\n", wait: s.wait,
	}, o)
	if err != nil || !s.wait || s.dryRun != dryNone {
		return err
	}
	return a.follow(ctx, c, client.ObjectKeyFromObject(b), s.follow)
}
