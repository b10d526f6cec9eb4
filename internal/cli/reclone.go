package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/cli/reclone"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
)

// recloneOptions are the flags of reclone.
type recloneOptions struct {
	node  string
	apply bool
	// everywhere says that no flag names a namespace.
	everywhere bool
}

func (a *app) reclone() *cobra.Command {
	o := &recloneOptions{}
	c := recloneHelp.command()
	c.Args = cobra.MaximumNArgs(1)
	c.RunE = func(c *cobra.Command, args []string) error {
		if (o.node == "") == (len(args) == 0) {
			return errors.New("name one instance, or use --node for those whose volumes were on a node")
		}
		o.everywhere = !c.Flags().Changed("namespace")
		return a.runReclone(c.Context(), o, args)
	}
	f := c.Flags()
	f.StringVar(&o.node, "node", "", "all instances whose volumes were on this node, of all namespaces or of that of --namespace")
	f.BoolVar(&o.apply, "apply", false, "delete the claims and pods of the planned instances; what is on these volumes is lost")
	return c
}

func (a *app) runReclone(ctx context.Context, o *recloneOptions, args []string) error {
	c, namespace, err := a.connect()
	if err != nil {
		return err
	}
	var selected reclone.Selection
	if o.node == "" {
		selected.Name = args[0]
	} else {
		if selected, err = lostNode(ctx, c, o.node); err != nil {
			return err
		}
		if o.everywhere {
			namespace = ""
		}
	}
	instances, err := lostInstances(ctx, c, namespace, selected)
	if err != nil {
		return err
	}
	if len(instances) == 0 && o.node == "" {
		return fmt.Errorf("no Cluster in namespace %s has an instance %s", namespace, args[0])
	}
	if o.apply {
		err = releaseEach(ctx, c, instances)
	}
	// After an error the table says what was deleted before.
	if shown := a.showReclone(o, namespace, instances); err == nil {
		err = shown
	}
	return err
}

func (a *app) showReclone(o *recloneOptions, namespace string, instances []reclone.Instance) error {
	text := reclone.Table(instances)
	has := func(outcome reclone.Outcome) bool {
		return slices.ContainsFunc(instances, func(i reclone.Instance) bool { return i.Outcome == outcome })
	}
	switch {
	case len(instances) == 0:
		text = fmt.Sprintf("No instances with volumes on node %s found in %s.\n", o.node, where(namespace))
	case has(reclone.Failed):
		text += "The command ended early. Nothing of a planned instance was deleted. To continue, run the same command again.\n"
	case has(reclone.Planned):
		text += "Nothing was deleted. --apply deletes these claims and what is on their volumes; CloudNativePG then clones the instances on other nodes.\n"
	}
	if _, err := fmt.Fprint(a.streams.Out, text); err != nil {
		return err
	}
	if has(reclone.Refused) {
		return ErrFindings
	}
	return nil
}

// lostInstances reads the Clusters of a namespace, or of all.
func lostInstances(ctx context.Context, c client.Client, namespace string, selected reclone.Selection) ([]reclone.Instance, error) {
	clusters := &cnpgv1.ClusterList{}
	if err := c.List(ctx, clusters, client.InNamespace(namespace)); err != nil {
		return nil, fmt.Errorf("list CloudNativePG Clusters: %w", err)
	}
	var out []reclone.Instance
	for _, cluster := range clusters.Items {
		in := reclone.Objects{Cluster: cluster}
		pods, claims := &corev1.PodList{}, &corev1.PersistentVolumeClaimList{}
		for _, list := range []client.ObjectList{pods, claims} {
			if err := c.List(ctx, list, client.InNamespace(cluster.Namespace), client.MatchingLabels{naming.LabelCNPGCluster: cluster.Name}); err != nil {
				return nil, fmt.Errorf("list pods and claims of Cluster %s/%s: %w", cluster.Namespace, cluster.Name, err)
			}
		}
		in.Pods, in.Claims = pods.Items, claims.Items
		out = append(out, reclone.Instances(in, func(name string) reclone.NodeState {
			state, _ := nodeState(ctx, c, name) // after an error it is NodeUnknown, which refuses
			return state
		}, selected)...)
	}
	return out, nil
}

// lostNode selects the instances of a node that is gone or not Ready. It returns an error for
// a node that cannot be read, because that may be Ready.
func lostNode(ctx context.Context, c client.Client, name string) (reclone.Selection, error) {
	out := reclone.Selection{Node: name, Volumes: map[string]corev1.PersistentVolume{}}
	state, err := nodeState(ctx, c, name)
	switch {
	case err != nil:
		return out, fmt.Errorf("cannot read node %s: %w", name, err)
	case state == reclone.NodeReady:
		return out, fmt.Errorf("node %s is Ready, and its instances may only be restarting; name each instance that lost its volumes", name)
	}
	nodes, volumes := &corev1.NodeList{}, &corev1.PersistentVolumeList{}
	out.Unread = errors.Join(c.List(ctx, nodes), c.List(ctx, volumes))
	out.Nodes = nodes.Items
	for _, v := range volumes.Items {
		out.Volumes[v.Name] = v
	}
	return out, nil
}

// nodeState reads a node. The error comes with NodeUnknown.
func nodeState(ctx context.Context, c client.Client, name string) (reclone.NodeState, error) {
	node := &corev1.Node{}
	err := c.Get(ctx, client.ObjectKey{Name: name}, node)
	switch {
	case apierrors.IsNotFound(err):
		return reclone.NodeGone, nil
	case err != nil:
		return reclone.NodeUnknown, err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return reclone.NodeReady, nil
		}
	}
	return reclone.NodeNotReady, nil
}

// releaseEach releases the planned instances, until an error.
func releaseEach(ctx context.Context, c client.Client, instances []reclone.Instance) error {
	for i := range instances {
		if instances[i].Outcome != reclone.Planned {
			continue
		}
		deleted, err := release(ctx, c, &instances[i])
		if err != nil {
			instances[i].Fail(err, deleted)
			return err
		}
		instances[i].Outcome = reclone.Deleted
	}
	return nil
}

// release deletes the claims of an instance, and then its pod, which lets the claims go. The
// UIDs keep it from objects that took their names since. It returns the names of the claims
// that it deleted, also with an error.
func release(ctx context.Context, c client.Client, i *reclone.Instance) (deleted []string, err error) {
	for _, claim := range i.Claims {
		if err := client.IgnoreNotFound(c.Delete(ctx, &claim, client.Preconditions{UID: &claim.UID})); err != nil {
			return deleted, fmt.Errorf("delete claim %s/%s: %w", claim.Namespace, claim.Name, err)
		}
		deleted = append(deleted, claim.Name)
	}
	if i.Pod == nil {
		return deleted, nil
	}
	options := []client.DeleteOption{client.Preconditions{UID: &i.Pod.UID}}
	if i.Force {
		options = append(options, client.GracePeriodSeconds(0))
	}
	if err := client.IgnoreNotFound(c.Delete(ctx, i.Pod, options...)); err != nil {
		return deleted, fmt.Errorf("delete pod %s/%s, whose claims are deleted: %w", i.Namespace, i.Name, err)
	}
	return deleted, nil
}
