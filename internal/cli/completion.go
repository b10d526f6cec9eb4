package cli

import (
	"context"
	_ "embed" // embeds the script for kubectl
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// kubectlScript is the program that kubectl runs to complete the plugin.
//
//go:embed kubectl_complete-pgstorage
var kubectlScript string

// completionTimeout bounds the wait after a press of the Tab key.
const completionTimeout = 3 * time.Second

// scripts write the completion script of each shell.
var scripts = map[string]func(root *cobra.Command, to io.Writer) error{
	"bash":       func(root *cobra.Command, to io.Writer) error { return root.GenBashCompletionV2(to, true) },
	"zsh":        func(root *cobra.Command, to io.Writer) error { return root.GenZshCompletion(to) },
	"fish":       func(root *cobra.Command, to io.Writer) error { return root.GenFishCompletion(to, true) },
	"powershell": func(root *cobra.Command, to io.Writer) error { return root.GenPowerShellCompletionWithDesc(to) },
	"kubectl": func(_ *cobra.Command, to io.Writer) error {
		_, err := io.WriteString(to, kubectlScript)
		return err
	},
}

func (a *app) completion() *cobra.Command {
	shells := slices.Sorted(maps.Keys(scripts))
	c := completionHelp.command()
	c.Use += " " + strings.Join(shells, "|")
	c.Args = cobra.ExactArgs(1)
	c.ValidArgs = shells
	c.DisableFlagsInUseLine = true
	c.RunE = func(c *cobra.Command, args []string) error {
		script := scripts[args[0]]
		if script == nil {
			return fmt.Errorf("unknown shell %q; use %s", args[0], strings.Join(shells, ", "))
		}
		return script(c.Root(), a.streams.Out)
	}
	return c
}

// completeObjects completes [KIND/]NAME.
func (a *app) completeObjects(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	short, _, hasKind := strings.Cut(typed, "/")
	if !hasKind {
		return append(a.names(c.Context(), "PgStorageCluster", ""), "pgsc/", "pgsp/", "pgns/", "pgb/", "pgsb/", "pgbr/"), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	return a.names(c.Context(), kinds[strings.ToLower(short)], short+"/"), cobra.ShellCompDirectiveNoFileComp
}

// completeFirst completes the first argument with the names of objects of a kind.
func (a *app) completeFirst(kind string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return a.names(c.Context(), kind, ""), cobra.ShellCompDirectiveNoFileComp
	}
}

// completeEach completes each argument with the names of objects of a kind that are not
// arguments already.
func (a *app) completeEach(kind string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
		named := func(name string) bool { return slices.Contains(args, name) }
		return slices.DeleteFunc(a.names(c.Context(), kind, ""), named), cobra.ShellCompDirectiveNoFileComp
	}
}

// namespaced are the kinds of objects in namespaces.
var namespaced = []string{"PgStorageCluster", "PgBenchmark", "PgScheduledBenchmark", "PgStorageBranch"}

// names returns the names of the objects of a kind, each after prefix. A namespaced kind
// is listed in the current namespace. There are none if the list fails.
func (a *app) names(ctx context.Context, kind, prefix string) []string {
	namespace, err := a.namespace()
	if kind == "" || err != nil {
		return nil
	}
	a.config.Timeout = new(completionTimeout.String()) // discovery takes no context
	c, err := a.client()
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, completionTimeout)
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
