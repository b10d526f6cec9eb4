package cli

import (
	"context"
	_ "embed" // the script for kubectl
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

//go:embed kubectl_complete-pgstorage
var forKubectl string

// completionPatience is how long a person waits for a key to answer.
const completionPatience = 3 * time.Second

func (a *app) completion() *cobra.Command {
	scripts := map[string]func(root *cobra.Command, to io.Writer) error{
		"bash":       func(root *cobra.Command, to io.Writer) error { return root.GenBashCompletionV2(to, true) },
		"zsh":        func(root *cobra.Command, to io.Writer) error { return root.GenZshCompletion(to) },
		"fish":       func(root *cobra.Command, to io.Writer) error { return root.GenFishCompletion(to, true) },
		"powershell": func(root *cobra.Command, to io.Writer) error { return root.GenPowerShellCompletionWithDesc(to) },
		"kubectl": func(_ *cobra.Command, to io.Writer) error {
			_, err := io.WriteString(to, forKubectl)
			return err
		},
	}
	names := []string{"bash", "fish", "kubectl", "powershell", "zsh"}
	return &cobra.Command{
		Use:   "completion " + strings.Join(names, "|"),
		Short: "Print a script that completes commands and names",
		Long: `Print a script that completes commands and names.

kubectl is for those who type kubectl pgstorage and have kubectl's own
completion: kubectl asks a program kubectl_complete-pgstorage on the PATH. The
archives of a release hold it; krew installs none, so print it once. The others
are for those who type kubectl-pgstorage.`,
		Example: `  kubectl pgstorage completion kubectl > ~/.local/bin/kubectl_complete-pgstorage
  chmod +x ~/.local/bin/kubectl_complete-pgstorage

  source <(kubectl-pgstorage completion bash)`,
		Args:                  cobra.ExactArgs(1),
		ValidArgs:             names,
		DisableFlagsInUseLine: true,
		RunE: func(c *cobra.Command, args []string) error {
			script := scripts[args[0]]
			if script == nil {
				return fmt.Errorf("%q is no shell that is known; use %s", args[0], strings.Join(names, ", "))
			}
			return script(c.Root(), a.streams.Out)
		},
	}
}

// completeObjects is for [KIND/]NAME.
func (a *app) completeObjects(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	short, _, given := strings.Cut(typed, "/")
	if !given {
		return append(a.names(c.Context(), "PgStorageCluster", ""), "pgsc/", "pgsp/", "pgns/", "pgb/", "pgsb/"), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return a.names(c.Context(), kinds[strings.ToLower(short)], short+"/"), cobra.ShellCompDirectiveNoFileComp
}

// completeFirst argument with the names of a kind.
func (a *app) completeFirst(kind string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.names(c.Context(), kind, ""), cobra.ShellCompDirectiveNoFileComp
	}
}

// namespaced kinds.
var namespaced = []string{"PgStorageCluster", "PgBenchmark", "PgScheduledBenchmark"}

// names of objects of a kind, of the namespace where it has one; none where they
// cannot be read.
func (a *app) names(ctx context.Context, kind, prefix string) []string {
	namespace, err := a.namespace()
	if kind == "" || err != nil {
		return nil
	}
	a.config.Timeout = new(completionPatience.String()) // discovery knows no context
	c, err := a.client()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionPatience)
	defer cancel()
	var scope []client.ListOption
	if slices.Contains(namespaced, kind) {
		scope = append(scope, client.InNamespace(namespace))
	}
	list := &metav1.PartialObjectMetadataList{}
	list.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(kind + "List"))
	if err := c.List(ctx, list, scope...); err != nil {
		return nil
	}
	var out []string
	for i := range list.Items {
		out = append(out, prefix+list.Items[i].Name)
	}
	slices.Sort(out)
	return out
}
