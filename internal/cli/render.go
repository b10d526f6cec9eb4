package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/render"
	"github.com/pgstorage/pgstorage/internal/cli/view"
)

// imageRepository of the operator's image.
const imageRepository = "ghcr.io/pgstorage/pgstorage"

func (a *app) render() *cobra.Command {
	o, assume := &output{}, render.Assumptions{}
	var names []string
	var recursive bool
	image := imageRepository + ":" + a.version
	c := &cobra.Command{
		Use:   "render -f FILE...",
		Short: "Plan offline what the operator would make of files",
		Long: `Plan offline what the operator would make of files.

No cluster is asked. Defaults, rules and refusals are those of the API server
and the operator: an object that either would refuse is refused here in the same
words, and the exit code is 1, so this serves as a check before a merge.

Give a PgStorageCluster with its PgStorageProfile, a PgBenchmark with both. A
profile that makes storage on nodes needs nodes: name them by --node, or give
Node objects by -f, as kubectl get node -o yaml prints them. What only a cluster
could tell is assumed, and said in comments at the top; a stage of the plan that
the operator would hold back until it has seen something is marked "held".`,
		Example: `  kubectl pgstorage render -f profile.yaml -f cluster.yaml
  kubectl pgstorage render -f profile-zfs.yaml --node node-1 --node node-2
  kubectl get pgsp,pgsc -n prod -o yaml | kubectl pgstorage render -f -
  kubectl pgstorage render -f deploy/ -o json | jq '.items[].kind'`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			files, err := a.files(c.Context(), names, recursive)
			if err != nil {
				return err
			}
			schemas, err := admit.Load(crd.Bases)
			if err != nil {
				return err
			}
			namespace, enforced, err := a.config.ToRawKubeConfigLoader().Namespace()
			if err != nil {
				return fmt.Errorf("kubeconfig: %w", err)
			}
			documents, err := render.Reader{Schemas: schemas, Namespace: namespace, Enforced: enforced}.Read(c.Context(), files...)
			if err != nil {
				return err
			}
			assume.Config.BenchImage, assume.Operator.Image = image, image
			result, err := render.Build(documents, assume)
			if err != nil {
				return err
			}
			for _, note := range result.Notes {
				_, _ = fmt.Fprintln(a.streams.ErrOut, "Warning:", view.Clean(note))
			}
			if o.format == "yaml" {
				o.format = "" // the text is YAML, with comments
			}
			return o.print(a.streams.Out, result.List(), result.YAML)
		},
	}
	c.Flags().StringSliceVarP(&names, "filename", "f", nil, "file, folder or pattern with YAML or JSON, or - for standard input; can be given several times (required)")
	c.Flags().BoolVarP(&recursive, "recursive", "R", false, "read the folders in a folder too")
	c.Flags().StringSliceVar(&assume.Nodes, "node", nil, "name of a node that the profile's nodeSelector is taken to select; can be given several times")
	c.Flags().StringVar(&assume.Config.ImageRepository, "postgres-image-repository", "ghcr.io/cloudnative-pg/postgresql", "as the manager's flag: repository of Postgres images")
	c.Flags().StringVar(&image, "image", image, "image of the operator, which benchmarks and servers run")
	c.Flags().StringVar(&assume.Operator.Namespace, "operator-namespace", "pgstorage-system", "namespace of the operator, where servers of S3NBD profiles run")
	c.Flags().StringVarP(&o.format, "output", "o", "yaml", "yaml, with what is assumed and held back as comments, or json, a List")
	complete(c, "output", "json", "yaml")
	if err := c.MarkFlagRequired("filename"); err != nil {
		panic(err) // a defect: there is no such flag
	}
	return c
}
