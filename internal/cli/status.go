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

// kinds maps the resource names that kubectl accepts, and branch, to kinds.
var kinds = map[string]string{
	"pgstoragecluster": "PgStorageCluster", "pgstorageclusters": "PgStorageCluster", "pgsc": "PgStorageCluster",
	"pgstorageprofile": "PgStorageProfile", "pgstorageprofiles": "PgStorageProfile", "pgsp": "PgStorageProfile",
	"pgnodestorage": "PgNodeStorage", "pgnodestorages": "PgNodeStorage", "pgns": "PgNodeStorage",
	"pgbenchmark": "PgBenchmark", "pgbenchmarks": "PgBenchmark", "pgb": "PgBenchmark",
	"pgscheduledbenchmark": "PgScheduledBenchmark", "pgscheduledbenchmarks": "PgScheduledBenchmark", "pgsb": "PgScheduledBenchmark",
	"pgstoragebranch": "PgStorageBranch", "pgstoragebranches": "PgStorageBranch", "pgbr": "PgStorageBranch", "branch": "PgStorageBranch",
}

func (a *app) status() *cobra.Command {
	o, all := &output{}, false
	c := statusHelp.command()
	c.Args = cobra.MaximumNArgs(1)
	c.ValidArgsFunction = a.completeObjects
	c.RunE = func(c *cobra.Command, args []string) error {
		if len(args) == 0 {
			return a.listClusters(c.Context(), o, all)
		}
		tree, err := a.tree(c.Context(), args[0])
		if err != nil {
			return err
		}
		return o.print(a.streams.Out, tree, plain(tree.Text(a.style())))
	}
	o.flag(c)
	c.Flags().BoolVarP(&all, "all-namespaces", "A", false, "list the databases of all namespaces")
	return c
}

// parse splits [KIND/]NAME. The default kind is PgStorageCluster.
func parse(arg string) (kind, name string, err error) {
	short, name, given := strings.Cut(arg, "/")
	if !given {
		short, name = "pgsc", arg
	}
	kind = kinds[strings.ToLower(short)]
	if kind == "" {
		return "", "", fmt.Errorf("unknown kind %q; use pgsc, pgsp, pgns, pgb, pgsb or pgbr, as in pgsp/NAME", short)
	}
	if name == "" {
		return "", "", fmt.Errorf("%q has no object name; use %s/NAME", arg, short)
	}
	return kind, name, nil
}

// tree reads the object that arg names and returns its tree.
func (a *app) tree(ctx context.Context, arg string) (status.Tree, error) {
	kind, name, err := parse(arg)
	if err != nil {
		return status.Tree{}, err
	}
	r, key, err := a.object(name)
	if err != nil {
		return status.Tree{}, err
	}
	pages, err := openRunbooks()
	if err != nil {
		return status.Tree{}, err
	}
	return build(ctx, r, status.Builder{Runbooks: pages}, kind, key)
}

// build reads an object of a kind and returns its tree.
func build(ctx context.Context, r gather.Reader, b status.Builder, kind string, key client.ObjectKey) (status.Tree, error) {
	switch kind {
	case "PgStorageProfile":
		s, err := r.Profile(ctx, key.Name)
		if err == nil && s.Profile == nil && len(s.Unread) == 0 {
			err = fmt.Errorf("PgStorageProfile %s does not exist; list the existing ones with kubectl get pgsp", key.Name)
		}
		return b.Profile(s), err
	case "PgNodeStorage":
		s, err := r.NodeStorage(ctx, key.Name)
		return treeOf(s, err, b.NodeStorage)
	case "PgScheduledBenchmark":
		s, err := r.Schedule(ctx, key)
		return treeOf(s, err, b.Schedule)
	case "PgStorageBranch":
		s, err := r.Branch(ctx, key)
		return treeOf(s, err, b.Branch)
	case "PgBenchmark":
		s, err := r.Benchmark(ctx, key)
		return treeOf(s, err, b.Benchmark)
	}
	s, err := r.Cluster(ctx, key)
	return treeOf(s, err, b.Cluster)
}

// treeOf returns the tree of what was read, unless reading failed.
func treeOf[S any](seen S, err error, of func(S) status.Tree) (status.Tree, error) {
	if err != nil {
		return status.Tree{}, err
	}
	return of(seen), nil
}

// row is a line of the list of databases.
type row struct {
	Namespace  string     `json:"namespace"`
	Name       string     `json:"name"`
	Profile    string     `json:"profile"`
	Durability string     `json:"durability"`
	State      view.State `json:"state"`
	Reason     string     `json:"reason,omitempty"`
	Message    string     `json:"message,omitempty"`
}

func rowOf(cr *v1alpha1.PgStorageCluster) row {
	r := row{Namespace: cr.Namespace, Name: cr.Name, Profile: cr.Spec.Profile, Durability: string(cr.Spec.Durability)}
	r.State, r.Reason, r.Message = status.StateOf(cr.Generation, cr.Status.ObservedGeneration, cr.Status.Conditions)
	return r
}

// listClusters prints the databases of the namespace, or of all.
func (a *app) listClusters(ctx context.Context, o *output, all bool) error {
	list := &v1alpha1.PgStorageClusterList{}
	namespace, err := a.list(ctx, list, all)
	if err != nil {
		return fmt.Errorf("list PgStorageClusters: %w", err)
	}
	rows, text := []row{}, [][]string{{"NAMESPACE", "NAME", "PROFILE", "DURABILITY", "STATE", "REASON", "MESSAGE"}}
	for i := range list.Items {
		r := rowOf(&list.Items[i])
		rows = append(rows, r)
		text = append(text, []string{r.Namespace, r.Name, r.Profile, r.Durability, string(r.State), r.Reason, r.Message})
	}
	return o.print(a.streams.Out, rows, func() (string, error) {
		if len(rows) == 0 {
			return fmt.Sprintf("No PgStorageClusters found in %s.\n", where(namespace)), nil
		}
		return view.Columns(text...), nil
	})
}

// where names a namespace in messages; "" is all of them.
func where(namespace string) string {
	if namespace == "" {
		return "all namespaces"
	}
	return "namespace " + namespace
}
