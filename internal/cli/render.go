package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/render"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// imageRepository is the repository of the operator image.
const imageRepository = "ghcr.io/pgstorage/pgstorage"

// defaultRepository of Postgres images, as the manager has it.
const defaultRepository = "ghcr.io/cloudnative-pg/postgresql"

// renderOptions are the flags of render.
type renderOptions struct {
	names     []string
	recursive bool
	image     string
	assume    render.Assumptions
}

func (a *app) render() *cobra.Command {
	o, r := &output{}, &renderOptions{image: imageRepository + ":" + a.version}
	c := renderHelp.command()
	c.Args = cobra.NoArgs
	c.RunE = func(c *cobra.Command, _ []string) error { return a.writeRender(c.Context(), r, o) }
	r.flags(c)
	c.Flags().StringVarP(&o.format, "output", "o", "yaml", "yaml, with assumptions and held stages as comments, or json, as a List")
	complete(c, "output", "json", "yaml")
	return c
}

func (r *renderOptions) flags(c *cobra.Command) {
	f := c.Flags()
	f.StringSliceVarP(&r.names, "filename", "f", nil, "file, folder or pattern with YAML or JSON, or - for the standard input; repeatable (required)")
	f.BoolVarP(&r.recursive, "recursive", "R", false, "also read subfolders")
	f.StringSliceVar(&r.assume.Nodes, "node", nil, "name of a node that the nodeSelector of the profile is assumed to select; repeatable")
	f.StringVar(&r.assume.Config.ImageRepository, "postgres-image-repository", defaultRepository, "repository of Postgres images, as in the same flag of the manager")
	f.StringVar(&r.image, "image", r.image, "image of the operator, which benchmarks and storage servers run")
	f.StringVar(&r.assume.Operator.Namespace, "operator-namespace", "pgstorage-system", "namespace of the operator, where the servers of S3NBD profiles run")
	if err := c.MarkFlagRequired("filename"); err != nil {
		panic(err) // a bug: the flag does not exist
	}
}

// writeRender plans the objects of the files, and prints the plans and their warnings.
func (a *app) writeRender(ctx context.Context, r *renderOptions, o *output) error {
	documents, err := a.documents(ctx, r)
	if err != nil {
		return err
	}
	r.assume.Config.BenchImage, r.assume.Operator.Image = r.image, r.image
	out, err := render.Build(documents, r.assume)
	if err != nil {
		return err
	}
	for _, warning := range out.Warnings {
		_, _ = fmt.Fprintln(a.streams.ErrOut, "Warning:", view.Clean(warning))
	}
	if o.format == "yaml" {
		o.format = "" // the text is YAML with comments
	}
	return o.print(a.streams.Out, out.List(), out.YAML)
}

// documents reads the files and validates their objects.
func (a *app) documents(ctx context.Context, r *renderOptions) (render.Documents, error) {
	files, err := a.files(ctx, r.names, r.recursive)
	if err != nil {
		return render.Documents{}, err
	}
	schemas, err := admit.Load(crd.Bases)
	if err != nil {
		return render.Documents{}, err
	}
	namespace, enforced, err := a.config.ToRawKubeConfigLoader().Namespace()
	if err != nil {
		return render.Documents{}, fmt.Errorf("kubeconfig: %w", err)
	}
	return render.Loader{Schemas: schemas, Namespace: namespace, Enforced: enforced}.Load(ctx, files...)
}
