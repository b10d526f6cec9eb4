package cephrbd

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	storagev1ac "k8s.io/client-go/applyconfigurations/storage/v1"
	"k8s.io/utils/ptr"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/outcome"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/component/nodes"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

func driver(p *v1alpha1.PgStorageProfile) string { return naming.RBDDriver(p) }

// addClasses is the StorageClass of images, its VolumeSnapshotClass, and what is said
// of them.
func addClasses(b *profile.Built, p *v1alpha1.PgStorageProfile, facts observed.Profile) error {
	parameters, err := classParameters(p, facts)
	if err != nil {
		return err
	}
	class := storagev1ac.StorageClass(naming.DataClass(p.Name)).
		WithLabels(labels(p)).
		WithProvisioner(driver(p)).
		WithParameters(parameters).
		WithReclaimPolicy(corev1.PersistentVolumeReclaimDelete).
		WithVolumeBindingMode(bindingMode(p)).
		WithAllowVolumeExpansion(true)
	if ptr.Deref(p.Spec.CephRBD.VolumeClass.Discard, false) {
		class.WithMountOptions("discard")
	}
	if err := add(b, plan.StageStorage, class); err != nil {
		return err
	}
	if facts.VolumeSnapshots {
		b.Plan.Add(snapshotClass(p))
	}
	o := classOutcome(p, facts, parameters)
	b.Outcomes = append(b.Outcomes, o)
	switch o.Reason {
	case v1alpha1.ReasonStorageClassNotOwned, v1alpha1.ReasonDriverNotInstalled, v1alpha1.ReasonStorageClassDiffers:
		hold(b, plan.StageStorage, o)
	}
	return nil
}

// bindingMode: an image can be had from any node, except where pools are pinned to
// hosts and the scheduler chooses.
func bindingMode(p *v1alpha1.PgStorageProfile) storagev1.VolumeBindingMode {
	if len(p.Spec.CephRBD.Pool.PinnedHosts) > 0 {
		return storagev1.VolumeBindingWaitForFirstConsumer
	}
	return storagev1.VolumeBindingImmediate
}

// classParameters as in Rook's storageclass.yaml. Secrets are Rook's own, of the
// CephCluster's namespace, which is also the cluster's ID.
func classParameters(p *v1alpha1.PgStorageProfile, facts observed.Profile) (map[string]string, error) {
	r := p.Spec.CephRBD
	out := map[string]string{
		"clusterID":                 r.Rook.Namespace,
		"imageFormat":               "2",
		"imageFeatures":             strings.Join(imageFeatures(p, facts), ","),
		"csi.storage.k8s.io/fstype": r.VolumeClass.FSType,
	}
	for _, role := range []string{"provisioner", "controller-expand", "controller-publish", "node-stage"} {
		name, namespace := secretKeys(role)
		out[name], out[namespace] = secretOf(role), r.Rook.Namespace
	}
	if len(r.Pool.PinnedHosts) > 0 {
		var err error
		out["topologyConstrainedPools"], err = constrainedPools(p)
		return out, err
	}
	out["pool"] = naming.ImagePool(p.Name)
	if r.DataPool != nil {
		out["dataPool"] = naming.ImageDataPool(p.Name)
	}
	return out, nil
}

// secretKeys of a class for one role of the driver.
func secretKeys(role string) (name, namespace string) {
	const prefix = "csi.storage.k8s.io/"
	return prefix + role + "-secret-name", prefix + role + "-secret-namespace"
}

// secretOf a role, as Rook makes them.
func secretOf(role string) string {
	if role == "node-stage" {
		return "rook-csi-rbd-node"
	}
	return "rook-csi-rbd-provisioner"
}

type constrainedPool struct {
	Pool     string          `json:"poolName"`
	Segments []domainSegment `json:"domainSegments"`
}

type domainSegment struct {
	Label string `json:"domainLabel"`
	Value string `json:"value"`
}

// constrainedPools has the driver choose the pool of the node that the pod goes to
// (Rook, Topology for External Mode).
func constrainedPools(p *v1alpha1.PgStorageProfile) (string, error) {
	var out []constrainedPool
	for _, host := range slices.Sorted(slices.Values(p.Spec.CephRBD.Pool.PinnedHosts)) {
		out = append(out, constrainedPool{Pool: naming.PinnedPool(p.Name, host), Segments: []domainSegment{{"hostname", host}}})
	}
	text, err := json.Marshal(out)
	if err != nil {
		return "", fmt.Errorf("render topologyConstrainedPools: %w", err)
	}
	return string(text), nil
}

// allFeatures of an image, which the kernel's client has from 5.4 on (Rook,
// storageclass.yaml).
var allFeatures = []string{"layering", "exclusive-lock", "object-map", "fast-diff", "deep-flatten"}

// imageFeatures that the spec sets, or that the class has, whose parameters are
// immutable, or that every node's kernel has.
func imageFeatures(p *v1alpha1.PgStorageProfile, facts observed.Profile) []string {
	if asked := p.Spec.CephRBD.VolumeClass.ImageFeatures; len(asked) > 0 {
		var out []string
		for _, f := range allFeatures {
			if slices.Contains(asked, f) {
				out = append(out, f)
			}
		}
		return out
	}
	if class := facts.Classes[naming.DataClass(p.Name)]; class != nil && class.Parameters["imageFeatures"] != "" {
		return strings.Split(class.Parameters["imageFeatures"], ",")
	}
	if len(own(facts).Kernels) == 0 {
		return allFeatures[:1]
	}
	for _, kernel := range own(facts).Kernels {
		if !atLeast54(kernel) {
			return allFeatures[:1]
		}
	}
	return allFeatures
}

// atLeast54 says whether a kernel, as 6.1.0-18-amd64, is 5.4 or newer.
func atLeast54(kernel string) bool {
	parts := strings.SplitN(kernel, ".", 3)
	if len(parts) < 2 {
		return false
	}
	major, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	minor, err := strconv.Atoi(strings.SplitN(parts[1], "-", 2)[0])
	return err == nil && (major > 5 || major == 5 && minor >= 4)
}

func snapshotClass(p *v1alpha1.PgStorageProfile) plan.Object {
	marks := map[string]any{}
	for k, v := range labels(p) {
		marks[k] = v
	}
	name, namespace := secretKeys("snapshotter")
	return plan.FromContent(plan.StageStorage, map[string]any{
		"apiVersion":     "snapshot.storage.k8s.io/v1",
		"kind":           "VolumeSnapshotClass",
		"metadata":       map[string]any{"name": naming.DataClass(p.Name), "labels": marks},
		"driver":         driver(p),
		"parameters":     map[string]any{"clusterID": p.Spec.CephRBD.Rook.Namespace, name: secretOf("snapshotter"), namespace: p.Spec.CephRBD.Rook.Namespace},
		"deletionPolicy": "Delete",
	})
}

func classOutcome(p *v1alpha1.PgStorageProfile, facts observed.Profile, parameters map[string]string) outcome.Outcome {
	const c = v1alpha1.ConditionStorageReady
	name := naming.DataClass(p.Name)
	class := facts.Classes[name]
	var differs []string
	if class != nil {
		differs = classDiffers(p, class, parameters)
	}
	switch {
	case class != nil && !nodes.Owned(class, p.Name):
		return nodes.NotOwned(c, name)
	case len(differs) > 0:
		return outcome.InvalidBecause(c, v1alpha1.ReasonStorageClassDiffers, fmt.Sprintf("StorageClass %s has %s; a class cannot be changed: delete it, and the operator makes it again. Volumes that exist stay as they are", name, strings.Join(differs, ", ")))
	case !slices.Contains(own(facts).Drivers, driver(p)):
		return outcome.WaitFor(c, v1alpha1.ReasonDriverNotInstalled, fmt.Sprintf("spec.cephRBD.rook: the CSI driver %s is not registered; install the chart ceph-csi-drivers; Rook before v1.20 brings it with its first CephCluster. There are: %s; set operatorNamespace or driver if it is one of them", driver(p), some(own(facts).Drivers)))
	case class == nil:
		return outcome.WaitFor(c, v1alpha1.ReasonStorageClassNotFound, fmt.Sprintf("StorageClass %s is made once a probe has verified the pool", name))
	}
	return outcome.DoneWith(c, v1alpha1.ReasonStorageClassApplied, "the StorageClass of the profile exists")
}

// classDiffers lists what of a class is not as declared, of what is immutable in it.
func classDiffers(p *v1alpha1.PgStorageProfile, class *storagev1.StorageClass, parameters map[string]string) []string {
	var out []string
	tell := func(what, have, want string) {
		if have != want {
			out = append(out, fmt.Sprintf("%s %q (declared: %q)", what, have, want))
		}
	}
	tell("provisioner", class.Provisioner, driver(p))
	tell("reclaimPolicy", string(ptr.Deref(class.ReclaimPolicy, corev1.PersistentVolumeReclaimDelete)), string(corev1.PersistentVolumeReclaimDelete))
	tell("volumeBindingMode", string(ptr.Deref(class.VolumeBindingMode, storagev1.VolumeBindingImmediate)), string(bindingMode(p)))
	names := slices.Collect(maps.Keys(parameters))
	names = slices.AppendSeq(names, maps.Keys(class.Parameters))
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		tell("parameters."+name, class.Parameters[name], parameters[name])
	}
	return out
}

// some of a list, or none.
func some(list []string) string {
	if len(list) == 0 {
		return "none"
	}
	return strings.Join(list, ", ")
}
