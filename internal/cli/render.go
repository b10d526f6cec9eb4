package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pgstorage/pgstorage/config/crd"
	"github.com/pgstorage/pgstorage/internal/cli/admit"
	"github.com/pgstorage/pgstorage/internal/cli/offline"
)

// imageRepository of the operator's image.
const imageRepository = "ghcr.io/pgstorage/pgstorage"

func (a *app) render() *cobra.Command {
	o, assume := &output{}, offline.Assumptions{}
	var names []string
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
			files, err := a.files(names)
			if err != nil {
				return err
			}
			schemas, err := admit.Load(crd.Bases)
			if err != nil {
				return err
			}
			namespace, err := a.namespace()
			if err != nil {
				return err
			}
			documents, err := offline.Reader{Schemas: schemas, Namespace: namespace}.Read(c.Context(), files...)
			if err != nil {
				return err
			}
			assume.Config.BenchImage, assume.Operator.Image = image, image
			result, err := offline.Build(documents, assume)
			if err != nil {
				return err
			}
			if o.format == "yaml" {
				o.format = "" // the text is YAML, with comments
			}
			return o.print(a.streams.Out, result.List(), result.YAML)
		},
	}
	c.Flags().StringSliceVarP(&names, "filename", "f", nil, "file or folder with YAML or JSON, or - for standard input; can be given several times (required)")
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

// files of names; those of a folder are its YAML and JSON files, sorted.
func (a *app) files(names []string) ([]offline.File, error) {
	var out []offline.File
	for _, name := range names {
		if name == "-" {
			content, err := io.ReadAll(a.streams.In)
			if err != nil {
				return nil, fmt.Errorf("--filename: read standard input: %w", err)
			}
			out = append(out, offline.File{Name: "standard input", Content: content})
			continue
		}
		paths, err := within(name)
		if err != nil {
			return nil, err
		}
		for _, path := range paths {
			content, err := os.ReadFile(path)
			if err != nil {
				return nil, fmt.Errorf("--filename: %w", err)
			}
			out = append(out, offline.File{Name: path, Content: content})
		}
	}
	return out, nil
}

// within a folder, or the file itself.
func within(name string) ([]string, error) {
	info, err := os.Stat(name)
	if err != nil {
		return nil, fmt.Errorf("--filename: %w", err)
	}
	if !info.IsDir() {
		return []string{name}, nil
	}
	var paths []string
	for _, pattern := range []string{"*.yaml", "*.yml", "*.json"} {
		found, err := filepath.Glob(filepath.Join(name, pattern))
		if err != nil {
			return nil, fmt.Errorf("--filename: %w", err)
		}
		paths = append(paths, found...)
	}
	if len(paths) == 0 {
		return nil, errors.New("--filename: folder " + name + " has no .yaml, .yml or .json file")
	}
	slices.Sort(paths)
	return paths, nil
}
