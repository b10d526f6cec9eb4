package gather

import (
	"context"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	authorizationv1 "k8s.io/api/authorization/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/doctor"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
	"github.com/pgstorage/pgstorage/internal/operator/profile/catalog"
)

// Labels of the Deployment and the DaemonSet of the operator.
const (
	labelName      = "app.kubernetes.io/name"
	labelComponent = "app.kubernetes.io/component"
	operator       = "pgstorage"
)

// Doctor completes the facts, whose expected parts the caller sets. It checks the
// permissions of the user in namespace.
func (r Reader) Doctor(ctx context.Context, c client.Client, namespace string, f doctor.Facts) (doctor.Facts, error) {
	n := notes{}
	for _, read := range []func(context.Context, *notes, *doctor.Facts) error{
		r.crds, r.foreign, r.workloads, r.role, r.objectsOfPgstorage, r.nodes,
	} {
		if err := read(ctx, &n, &f); err != nil {
			return f, err
		}
	}
	f.Unread = n
	var err error
	f.Permissions, err = permissions(ctx, c, namespace)
	return f, err
}

// crds reads the installed CRDs of pgstorage.
func (r Reader) crds(ctx context.Context, n *notes, f *doctor.Facts) error {
	f.InstalledCRDs = map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, expected := range f.ExpectedCRDs {
		crd := &apiextensionsv1.CustomResourceDefinition{}
		found, err := r.get(ctx, n, "CustomResourceDefinition "+expected.Name, client.ObjectKey{Name: expected.Name}, crd)
		if err != nil {
			return err
		}
		if found {
			f.InstalledCRDs[expected.Name] = crd
		}
	}
	return nil
}

// foreign reads the APIs of other operators, as the manager does.
func (r Reader) foreign(ctx context.Context, n *notes, f *doctor.Facts) error {
	found, err := (&observe.ForeignAPIs{Reader: r.Reader, Clock: clock.RealClock{}, CRDs: catalog.All().CRDs()}).Get(ctx)
	if err == nil {
		f.APIs = &found
		return nil
	}
	return n.note("CustomResourceDefinitions of other operators", err)
}

// workloads reads the managers and agents in all namespaces.
func (r Reader) workloads(ctx context.Context, n *notes, f *doctor.Facts) error {
	managers, agents := &appsv1.DeploymentList{}, &appsv1.DaemonSetList{}
	if err := r.list(ctx, n, "Deployments of all namespaces", managers, client.MatchingLabels{labelName: operator, labelComponent: "manager"}); err != nil {
		return err
	}
	if err := r.list(ctx, n, "DaemonSets of all namespaces", agents, client.MatchingLabels{labelName: operator, labelComponent: "agent"}); err != nil {
		return err
	}
	f.Managers, f.Agents = managers.Items, agents.Items
	if err := r.operators(ctx, n, f); err != nil {
		return err
	}
	return r.agentNamespaces(ctx, n, f)
}

// operators reads the Deployments of other operators, in all namespaces.
func (r Reader) operators(ctx context.Context, n *notes, f *doctor.Facts) error {
	f.Operators = map[string][]appsv1.Deployment{}
	for _, kind := range catalog.All() {
		for _, required := range kind.Hooks().Plugin.Requires {
			if required.Judge == nil {
				continue
			}
			found := &appsv1.DeploymentList{}
			if err := r.list(ctx, n, "Deployments of "+required.Name, found, client.MatchingLabels(required.Labels)); err != nil {
				return err
			}
			f.Operators[required.Name] = found.Items
		}
	}
	return nil
}

// agentNamespaces reads the namespaces of the agents, whose labels limit their pods.
func (r Reader) agentNamespaces(ctx context.Context, n *notes, f *doctor.Facts) error {
	seen := map[string]bool{}
	for _, a := range f.Agents {
		if seen[a.Namespace] {
			continue
		}
		seen[a.Namespace] = true
		namespace := &corev1.Namespace{}
		found, err := r.get(ctx, n, "Namespace "+a.Namespace, client.ObjectKey{Name: a.Namespace}, namespace)
		if err != nil {
			return err
		}
		if found {
			f.Namespaces = append(f.Namespaces, *namespace)
		}
	}
	return nil
}

func (r Reader) role(ctx context.Context, n *notes, f *doctor.Facts) error {
	if f.ExpectedRole == nil {
		return nil
	}
	role := &rbacv1.ClusterRole{}
	found, err := r.get(ctx, n, "ClusterRole "+f.ExpectedRole.Name, client.ObjectKey{Name: f.ExpectedRole.Name}, role)
	if found {
		f.Role = role
	}
	return err
}

// namedList is a list and its name in messages.
type namedList struct {
	what string
	list client.ObjectList
}

func (r Reader) lists(ctx context.Context, n *notes, lists ...namedList) error {
	for _, l := range lists {
		if err := r.list(ctx, n, l.what, l.list); err != nil {
			return err
		}
	}
	return nil
}

// objectsOfPgstorage reads the profiles, node storages and clusters. doctor reports a
// missing CRD separately.
func (r Reader) objectsOfPgstorage(ctx context.Context, n *notes, f *doctor.Facts) error {
	profiles, storages, clusters := &v1alpha1.PgStorageProfileList{}, &v1alpha1.PgNodeStorageList{}, &v1alpha1.PgStorageClusterList{}
	err := r.lists(ctx, n, namedList{"PgStorageProfiles", profiles}, namedList{"PgNodeStorages", storages}, namedList{"PgStorageClusters of all namespaces", clusters})
	if err != nil {
		return err
	}
	f.Profiles, f.Storages, f.Clusters = profiles.Items, storages.Items, clusters.Items
	return nil
}

func (r Reader) nodes(ctx context.Context, n *notes, f *doctor.Facts) error {
	nodes, csi, drivers, capacities, volumes := &corev1.NodeList{}, &storagev1.CSINodeList{}, &storagev1.CSIDriverList{}, &storagev1.CSIStorageCapacityList{}, &corev1.PersistentVolumeList{}
	err := r.lists(ctx, n, namedList{"Nodes", nodes}, namedList{"CSINodes", csi}, namedList{"CSIDrivers", drivers}, namedList{"CSIStorageCapacities of all namespaces", capacities},
		namedList{"PersistentVolumes", volumes})
	if err != nil {
		return err
	}
	f.Nodes, f.CSINodes, f.Drivers, f.Capacities, f.Volumes = nodes.Items, csi.Items, drivers.Items, capacities.Items, volumes.Items
	return nil
}

// permissions checks what the user is allowed to do. Every user may ask this.
func permissions(ctx context.Context, c client.Client, namespace string) ([]doctor.Permission, error) {
	group := v1alpha1.GroupVersion.Group
	asked := []doctor.Permission{
		{Verb: "get", Group: group, Resource: "pgstorageclusters", Namespace: namespace, For: "to show databases"},
		{Verb: "create", Group: group, Resource: "pgstorageclusters", Namespace: namespace, For: "to create databases"},
		{Verb: "create", Group: group, Resource: "pgbenchmarks", Namespace: namespace, For: "to start benchmarks"},
		{Verb: "create", Group: group, Resource: "pgstoragebranches", Namespace: namespace, For: "to branch databases"},
		{Verb: "list", Resource: "pods", Namespace: namespace, For: "to show instances"},
		{Verb: "list", Resource: "persistentvolumeclaims", Namespace: namespace, For: "to show volumes"},
		{Verb: "get", Group: group, Resource: "pgstorageprofiles", For: "to show profiles"},
		{Verb: "list", Group: group, Resource: "pgnodestorages", For: "to show pools"},
		{Verb: "create", Group: group, Resource: "pgstorageprofiles", For: "to create profiles, a task of node administrators"},
	}
	for i := range asked {
		p := &asked[i]
		review := &authorizationv1.SelfSubjectAccessReview{Spec: authorizationv1.SelfSubjectAccessReviewSpec{
			ResourceAttributes: &authorizationv1.ResourceAttributes{Verb: p.Verb, Group: p.Group, Resource: p.Resource, Namespace: p.Namespace},
		}}
		if err := c.Create(ctx, review); err != nil && !apierrors.IsForbidden(err) {
			return nil, fmt.Errorf("check permission to %s %s: %w", p.Verb, p.Resource, err)
		}
		p.Allowed = review.Status.Allowed
	}
	return asked, nil
}
