package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/gather"
)

// Values of --dry-run, as kubectl's.
const (
	dryNone   = "none"
	dryClient = "client"
	dryServer = "server"
)

// dryRunFlag adds --dry-run to a command that creates one object.
func dryRunFlag(c *cobra.Command, value *string) {
	c.Flags().StringVar(value, "dry-run", dryNone, "none, client (print the object without contacting a cluster) or server (validate the object without creating it)")
	complete(c, "dry-run", dryNone, dryClient, dryServer)
}

// creation is one object that a command creates.
type creation struct {
	// object has its kind. The API server may complete its name.
	object client.Object
	dryRun string
	// cluster is the PgStorageCluster that the object is for. It must exist.
	cluster string
	// consent returns what the cluster lacks to admit the object, or "".
	consent func(*v1alpha1.PgStorageCluster) string
	// hint is printed without wait; its verbs get the name and the namespace.
	hint string
	wait bool
}

// create creates an object, or only prints or validates it, as --dry-run selects. The client
// is nil with --dry-run=client.
func (a *app) create(ctx context.Context, n *creation, o *output) (client.WithWatch, error) {
	switch n.dryRun {
	case dryClient:
		return nil, a.printValid(ctx, n.object, o)
	case dryNone, dryServer:
	default:
		return nil, fmt.Errorf("--dry-run: unknown value %q; use none, client or server", n.dryRun)
	}
	c, err := a.client()
	if err != nil {
		return nil, err
	}
	return c, a.submit(ctx, c, n, o)
}

// printValid validates an object offline, and prints it.
func (a *app) printValid(ctx context.Context, object client.Object, o *output) error {
	if err := validate(ctx, object); err != nil {
		return err
	}
	if o.format == "" {
		o.format = "yaml"
	}
	return o.print(a.streams.Out, object, nil)
}

// validate checks an object as the API server does, which completes a generateName. It does
// not change the object.
func validate(ctx context.Context, b client.Object) error {
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		return err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(b)
	if err != nil {
		return fmt.Errorf("convert %T: %w", b, err)
	}
	o := &unstructured.Unstructured{Object: content}
	if o.GetName() == "" {
		o.SetName(o.GetGenerateName() + "x7k2p")
	}
	return schemas.Admit(ctx, o)
}

// submit creates the object, and prints its name and what to do next.
func (a *app) submit(ctx context.Context, c client.Client, n *creation, o *output) error {
	namespace, kind := n.object.GetNamespace(), n.object.GetObjectKind().GroupVersionKind()
	cluster, err := gather.Reader{Reader: c}.Target(ctx, client.ObjectKey{Namespace: namespace, Name: n.cluster})
	if err != nil {
		return err
	}
	var options []client.CreateOption
	done := "created"
	if n.dryRun == dryServer {
		options, done = append(options, client.DryRunAll), "created (server dry run)"
	}
	if err := c.Create(ctx, n.object, options...); err != nil {
		return fmt.Errorf("create %s: %w", kind.Kind, err)
	}
	n.object.GetObjectKind().SetGroupVersionKind(kind)
	text := nameOf(n.object) + " " + done + "\n"
	if consent := n.consent(cluster); consent != "" {
		text += "Waiting for consent: " + consent + "\n"
	}
	if n.dryRun == dryNone && !n.wait {
		text += fmt.Sprintf(n.hint, n.object.GetName(), namespace)
	}
	return o.print(a.streams.Out, n.object, plain(text))
}
