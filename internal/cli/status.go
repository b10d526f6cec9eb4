package cli

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
	"github.com/pgstorage/pgstorage/internal/cli/status"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// kinds that status takes, by the names that kubectl takes too.
var kinds = map[string]string{
	"pgstoragecluster": "PgStorageCluster", "pgstorageclusters": "PgStorageCluster", "pgsc": "PgStorageCluster",
	"pgstorageprofile": "PgStorageProfile", "pgstorageprofiles": "PgStorageProfile", "pgsp": "PgStorageProfile",
	"pgnodestorage": "PgNodeStorage", "pgnodestorages": "PgNodeStorage", "pgns": "PgNodeStorage",
	"pgbenchmark": "PgBenchmark", "pgbenchmarks": "PgBenchmark", "pgb": "PgBenchmark",
	"pgscheduledbenchmark": "PgScheduledBenchmark", "pgscheduledbenchmarks": "PgScheduledBenchmark", "pgsb": "PgScheduledBenchmark",
}

func (a *app) status() *cobra.Command {
	o, all := &output{}, false
	c := &cobra.Command{
		Use:   "status [KIND/]NAME",
		Short: "Show what a database stands on, and what is waited for",
		Long: `Show what a database stands on, and what is waited for.

A tree of a PgStorageCluster: its profile with the pools on the nodes, servers
and StorageClasses, CloudNativePG's Cluster with its pods and volumes, and its
benchmarks. Each object has one of these words:

  Ready     it is as declared
  Waits     for something that can come by itself; the line beneath says what
  Stalled   a person has to act; the line beneath says how, or names a runbook
  Unknown   nobody has looked yet, or you may not read it

Beneath an object of pgstorage are its conditions with their reasons. KIND is
pgsc (the default), pgsp, pgns, pgb or pgsb. Without a name all databases of
the namespace are listed. Colours are for terminals; NO_COLOR turns them off.`,
		Example: `  kubectl pgstorage status shop
  kubectl pgstorage status pgsp/zfs-nvme
  kubectl pgstorage status pgb/nightly -o json
  kubectl pgstorage status --all-namespaces`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: a.completeObjects,
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) == 0 {
				return a.listClusters(c.Context(), o, all)
			}
			item, err := a.tree(c.Context(), args[0])
			if err != nil {
				return err
			}
			return o.print(a.streams.Out, item, plain(item.Text(a.style())))
		},
	}
	o.flag(c)
	c.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the databases of all namespaces")
	return c
}

// parse KIND/NAME.
func parse(arg string) (kind, name string, err error) {
	short, name, given := strings.Cut(arg, "/")
	if !given {
		short, name = "pgsc", arg
	}
	kind = kinds[strings.ToLower(short)]
	if kind == "" {
		return "", "", fmt.Errorf("%q is no kind of pgstorage; use pgsc, pgsp, pgns, pgb or pgsb, as in pgsp/NAME", short)
	}
	if name == "" {
		return "", "", fmt.Errorf("%q names no object; write %s/NAME", arg, short)
	}
	return kind, name, nil
}

func (a *app) tree(ctx context.Context, arg string) (status.Item, error) {
	kind, name, err := parse(arg)
	if err != nil {
		return status.Item{}, err
	}
	r, err := a.reader()
	if err != nil {
		return status.Item{}, err
	}
	key, err := a.key(name)
	if err != nil {
		return status.Item{}, err
	}
	pages, err := book()
	if err != nil {
		return status.Item{}, err
	}
	return grow(ctx, r, status.Builder{Runbooks: pages}, kind, key)
}

// grow the tree of an object.
func grow(ctx context.Context, r gather.Reader, b status.Builder, kind string, key client.ObjectKey) (status.Item, error) {
	switch kind {
	case "PgStorageProfile":
		s, err := r.Profile(ctx, key.Name)
		if err == nil && s.Profile == nil && len(s.Unread) == 0 {
			err = fmt.Errorf("the PgStorageProfile %s does not exist; kubectl get pgsp lists those that do", key.Name)
		}
		return b.Profile(s), err
	case "PgNodeStorage":
		s, err := r.NodeStorage(ctx, key.Name)
		return grown(s, err, b.NodeStorage)
	case "PgScheduledBenchmark":
		s, err := r.Schedule(ctx, key)
		return grown(s, err, b.Schedule)
	case "PgBenchmark":
		s, err := r.Benchmark(ctx, key)
		return grown(s, err, b.Benchmark)
	}
	s, err := r.Cluster(ctx, key)
	return grown(s, err, b.Cluster)
}

// grown is the tree of what was read, unless it could not be.
func grown[S any](seen S, err error, of func(S) status.Item) (status.Item, error) {
	if err != nil {
		return status.Item{}, err
	}
	return of(seen), nil
}

// row of the list of databases.
type row struct {
	Namespace  string     `json:"namespace"`
	Name       string     `json:"name"`
	Profile    string     `json:"profile"`
	Durability string     `json:"durability"`
	State      view.State `json:"state"`
	Reason     string     `json:"reason,omitempty"`
	Message    string     `json:"message,omitempty"`
}

func (a *app) listClusters(ctx context.Context, o *output, all bool) error {
	r, err := a.reader()
	if err != nil {
		return err
	}
	namespace, err := a.namespace()
	if err != nil {
		return err
	}
	if all {
		namespace = ""
	}
	list := &v1alpha1.PgStorageClusterList{}
	if err := r.List(ctx, list, client.InNamespace(namespace)); err != nil {
		return fmt.Errorf("list PgStorageClusters: %w", err)
	}
	out, text := []row{}, [][]string{{"NAMESPACE", "NAME", "PROFILE", "DURABILITY", "STATE", "REASON", "MESSAGE"}}
	for i := range list.Items {
		cr := &list.Items[i]
		w := row{Namespace: cr.Namespace, Name: cr.Name, Profile: cr.Spec.Profile, Durability: string(cr.Spec.Durability)}
		w.State, w.Reason, w.Message = status.Judge(cr.Generation, cr.Status.ObservedGeneration, cr.Status.Conditions)
		out = append(out, w)
		text = append(text, []string{w.Namespace, w.Name, w.Profile, w.Durability, string(w.State), w.Reason, w.Message})
	}
	return o.print(a.streams.Out, out, func() (string, error) {
		if len(out) == 0 {
			return fmt.Sprintf("There is no PgStorageCluster in %s.\n", where(namespace)), nil
		}
		return view.Columns(text...), nil
	})
}

func where(namespace string) string {
	if namespace == "" {
		return "any namespace"
	}
	return "namespace " + namespace
}
