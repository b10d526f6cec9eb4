package observe

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/nodevolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// ProfileIndex is the cache index of PgStorageClusters by their profile, and the field that
// the API server selects them by.
const ProfileIndex = "spec.profile"

// IndexProfile is the index function of ProfileIndex.
func IndexProfile(obj client.Object) []string {
	cluster, ok := obj.(*v1alpha1.PgStorageCluster)
	if !ok {
		return nil
	}
	return []string{cluster.Spec.Profile}
}

// ClustersOf lists the PgStorageClusters that use a profile, as namespace/name.
func ClustersOf(ctx context.Context, r client.Reader, profile string, opts ...client.ListOption) ([]string, error) {
	list := &v1alpha1.PgStorageClusterList{}
	opts = append(opts, client.MatchingFields{ProfileIndex: profile}, client.UnsafeDisableDeepCopy)
	if err := r.List(ctx, list, opts...); err != nil {
		return nil, fmt.Errorf("list PgStorageClusters of profile %s: %w", profile, err)
	}
	users := make([]string, 0, len(list.Items))
	for i := range list.Items {
		users = append(users, client.ObjectKeyFromObject(&list.Items[i]).String())
	}
	return users, nil
}

// Profile reads the facts about a PgStorageProfile that all kinds of storage share, and
// the objects that it may have created.
func (r Readers) Profile(ctx context.Context, p *v1alpha1.PgStorageProfile, kind profile.Type, apis observed.ForeignAPIs, operator observed.Operator) (observed.Profile, plan.Live, error) {
	facts, live := observed.Profile{ForeignAPIs: apis, Operator: operator}, plan.Live{}
	hooks := kind.Hooks()
	if err := classes(ctx, r.Cache, kind.Classes(p), &facts, live); err != nil {
		return facts, nil, err
	}
	if hooks.Nodes {
		if err := r.storageOnNodes(ctx, p, apis, &facts, live); err != nil {
			return facts, nil, err
		}
	}
	if hooks.Servers != nil {
		if err := r.servers(ctx, p, hooks.Servers(p), &facts, live); err != nil {
			return facts, nil, err
		}
	}
	if !hooks.Peers {
		return facts, live, nil
	}
	return facts, live, r.others(ctx, p, &facts)
}

func classes(ctx context.Context, from client.Reader, names []string, facts *observed.Profile, live plan.Live) error {
	facts.Classes = map[string]*storagev1.StorageClass{}
	for _, name := range names {
		class, err := find(ctx, from, client.ObjectKey{Name: name}, &storagev1.StorageClass{})
		if err != nil {
			return err
		}
		if class != nil {
			facts.Classes[name] = class
			live[keyOf(storagev1.SchemeGroupVersion.WithKind("StorageClass"), class)] = class
		}
	}
	return nil
}

func (r Readers) storageOnNodes(ctx context.Context, p *v1alpha1.PgStorageProfile, apis observed.ForeignAPIs, facts *observed.Profile, live plan.Live) error {
	if err := r.storages(ctx, p, facts, live); err != nil {
		return err
	}
	if err := r.snapshotClass(ctx, p, apis, live); err != nil {
		return err
	}
	return r.nodes(ctx, p, facts)
}

func (r Readers) storages(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile, live plan.Live) error {
	list := &v1alpha1.PgNodeStorageList{}
	if err := r.Cache.List(ctx, list, client.MatchingLabels{naming.LabelProfile: p.Name}); err != nil {
		return fmt.Errorf("list PgNodeStorages of profile %s: %w", p.Name, err)
	}
	for i := range list.Items {
		s := &list.Items[i]
		if !nodevolumes.Genuine(p.Name, s) {
			continue
		}
		facts.Storages = append(facts.Storages, s)
		live[keyOf(v1alpha1.GroupVersion.WithKind("PgNodeStorage"), s)] = s
	}
	slices.SortFunc(facts.Storages, func(a, b *v1alpha1.PgNodeStorage) int { return strings.Compare(a.Spec.NodeName, b.Spec.NodeName) })
	return nil
}

func (r Readers) snapshotClass(ctx context.Context, p *v1alpha1.PgStorageProfile, apis observed.ForeignAPIs, live plan.Live) error {
	if !apis.VolumeSnapshots {
		return nil
	}
	gvk := schema.GroupVersionKind{Group: "snapshot.storage.k8s.io", Version: "v1", Kind: "VolumeSnapshotClass"}
	class := &unstructured.Unstructured{}
	class.SetGroupVersionKind(gvk)
	found, err := find(ctx, r.Live, client.ObjectKey{Name: naming.DataClass(p.Name)}, class)
	if err != nil || found == nil {
		return err
	}
	live[keyOf(gvk, found)] = found
	return nil
}

// nodes that the profile selects, and those that hold volumes of it.
func (r Readers) nodes(ctx context.Context, p *v1alpha1.PgStorageProfile, facts *observed.Profile) error {
	list := &corev1.NodeList{}
	if err := r.Cache.List(ctx, list, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list Nodes: %w", err)
	}
	clusters := &v1alpha1.PgStorageClusterList{}
	if err := r.Cache.List(ctx, clusters, client.MatchingFields{ProfileIndex: p.Name}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("list PgStorageClusters of profile %s: %w", p.Name, err)
	}
	facts.Clusters = clusters.Items
	pools, err := r.zfsPools(ctx, facts.ForeignAPIs)
	if err != nil {
		return err
	}
	promises, err := r.Promises(ctx)
	if err != nil {
		return err
	}
	holds := map[string]bool{}
	for _, s := range facts.Storages {
		holds[s.Spec.NodeName] = mayHold(s)
	}
	facts.Reachable = reachable(list.Items, facts.Storages)
	selector := labels.SelectorFromSet(p.Spec.NodeSelector)
	for i := range list.Items {
		selected := selector.Matches(labels.Set(list.Items[i].Labels))
		if !selected && !holds[list.Items[i].Name] {
			continue
		}
		node, err := r.node(ctx, &list.Items[i], pools)
		if err != nil {
			return err
		}
		node.Selected, node.ARC, node.InMemory = selected, promises[node.Name].ARC, promises[node.Name].Volumes
		facts.Nodes = append(facts.Nodes, node)
	}
	slices.SortFunc(facts.Nodes, func(a, b observed.Node) int { return strings.Compare(a.Name, b.Name) })
	return nil
}

// reachable is what each Node says of itself. One that has a PgNodeStorage and is not
// among them is gone.
func reachable(nodes []corev1.Node, storages []*v1alpha1.PgNodeStorage) map[string]observed.Reachability {
	out := map[string]observed.Reachability{}
	for _, s := range storages {
		out[s.Spec.NodeName] = observed.Reachability{Gone: true}
	}
	for i := range nodes {
		r := observed.Reachability{}
		for _, c := range nodes[i].Status.Conditions {
			if c.Type == corev1.NodeReady {
				r = observed.Reachability{Status: metav1.ConditionStatus(c.Status), Reason: c.Reason, Since: c.LastTransitionTime}
			}
		}
		out[nodes[i].Name] = r
	}
	return out
}

// mayHold says that a node has volumes, or may have some. That is unknown while the pool
// is not imported, as after a boot.
func mayHold(s *v1alpha1.PgNodeStorage) bool {
	if s.Spec.Memory != nil {
		return len(s.Spec.Memory.Volumes) > 0
	}
	if n := s.Status.VolumeCount; n != nil {
		return *n > 0
	}
	return s.Status.Pool != nil && s.Status.Pool.GUID != ""
}

func (r Readers) node(ctx context.Context, n *corev1.Node, pools map[string][]string) (observed.Node, error) {
	node := observed.Node{Name: n.Name, Hostname: n.Labels[corev1.LabelHostname], Memory: n.Status.Allocatable.Memory().Value()}
	csi, err := find(ctx, r.Cache, client.ObjectKey{Name: n.Name}, &storagev1.CSINode{})
	if err != nil || csi == nil {
		return node, err
	}
	for _, driver := range csi.Spec.Drivers {
		if driver.Name != nodevolumes.Driver {
			continue
		}
		for _, key := range nodevolumes.TopologyKeys {
			// The kubelet writes a driver's topology on the Node as labels.
			if value := n.Labels[key]; value != "" && slices.Contains(driver.TopologyKeys, key) {
				node.TopologyKey, node.TopologyValue = key, value
				node.Pools = pools[value]
				return node, nil
			}
		}
	}
	return node, nil
}

// zfsPools by the driver's own name of a node. ZFSNodes live in the driver's
// namespace, whichever that is, and are not ours to cache.
func (r Readers) zfsPools(ctx context.Context, apis observed.ForeignAPIs) (map[string][]string, error) {
	if !apis.ZFSLocalPV {
		return nil, nil
	}
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "zfs.openebs.io", Version: "v1", Kind: "ZFSNodeList"})
	if err := r.Live.List(ctx, list); err != nil {
		return nil, fmt.Errorf("list ZFSNodes: %w", err)
	}
	out := map[string][]string{}
	for i := range list.Items {
		pools, _, err := unstructured.NestedSlice(list.Items[i].Object, "pools")
		if err != nil {
			return nil, fmt.Errorf("read ZFSNode %s: %w", list.Items[i].GetName(), err)
		}
		for _, pool := range pools {
			if fields, ok := pool.(map[string]any); ok {
				name, _ := fields["name"].(string)
				out[list.Items[i].GetName()] = append(out[list.Items[i].GetName()], name)
			}
		}
	}
	return out, nil
}

// VolumesOfClass says whether a PersistentVolume of a StorageClass exists.
func (r Readers) VolumesOfClass(ctx context.Context, class string) (bool, error) {
	list := &corev1.PersistentVolumeList{}
	if err := r.Live.List(ctx, list); err != nil {
		return false, fmt.Errorf("list PersistentVolumes: %w", err)
	}
	return slices.ContainsFunc(list.Items, func(v corev1.PersistentVolume) bool { return v.Spec.StorageClassName == class }), nil
}

// ObservedClasses is what to report of the StorageClasses that exist.
func ObservedClasses(names []string, found map[string]*storagev1.StorageClass) []v1alpha1.ObservedStorageClass {
	var out []v1alpha1.ObservedStorageClass
	for _, name := range names {
		if class := found[name]; class != nil {
			out = append(out, observedClass(class))
		}
	}
	return out
}

func observedClass(class *storagev1.StorageClass) v1alpha1.ObservedStorageClass {
	out := v1alpha1.ObservedStorageClass{Name: class.Name, Provisioner: class.Provisioner, Expansion: "NotAllowed"}
	if class.ReclaimPolicy != nil {
		out.ReclaimPolicy = string(*class.ReclaimPolicy)
	}
	if class.VolumeBindingMode != nil {
		out.VolumeBindingMode = string(*class.VolumeBindingMode)
	}
	if class.AllowVolumeExpansion != nil && *class.AllowVolumeExpansion {
		out.Expansion = "Allowed"
	}
	return out
}
