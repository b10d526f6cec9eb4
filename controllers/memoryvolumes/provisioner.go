// Package memoryvolumes provisions PersistentVolumes of profiles of type Memory. It adds a
// volume to the PgNodeStorage of the node that the scheduler chose. Once the agent has
// mounted its tmpfs, it makes the PersistentVolume. A library of sig-storage watches the
// claims, reports events and tries again.
package memoryvolumes

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/sig-storage-lib-external-provisioner/v13/controller"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/decide/memoryvolumes"
	"github.com/pgstorage/pgstorage/internal/operator/observe"
)

// The rights are written by hand in config/memory: only who enables the kind gives them.

const (
	// patience with the agent of a node within one attempt.
	patience = 20 * time.Second
	// pause between two looks at the cache.
	pause = 100 * time.Millisecond
)

// Provisioner makes and removes volumes in memory.
type Provisioner struct {
	// Client reads from the cache.
	Client  client.Client
	Readers observe.Readers

	// change holds one change of volumes at a time: the budget of a node is read and taken
	// in one.
	change sync.Mutex
}

var _ controller.Provisioner = (*Provisioner)(nil)

// Provision makes the volume of a claim. A claim goes back to the scheduler where its node
// has no room, is gone, or is not the profile's. The claim of anything but a database on
// the profile is refused.
func (p *Provisioner) Provision(ctx context.Context, options controller.ProvisionOptions) (*corev1.PersistentVolume, controller.ProvisioningState, error) {
	request, err := p.request(ctx, options)
	if err != nil {
		return nil, controller.ProvisioningNoChange, err
	}
	if refusal := request.Refused(); refusal != "" {
		return nil, controller.ProvisioningFinished, errors.New(refusal)
	}
	if text := request.Misplaced(); text != "" {
		return nil, controller.ProvisioningReschedule, errors.New(text)
	}
	full, err := p.declare(ctx, request)
	switch {
	case err != nil:
		return nil, controller.ProvisioningNoChange, err
	case full != "":
		return nil, controller.ProvisioningReschedule, fmt.Errorf("no room for the volume: %s", full)
	}
	mounted, err := p.mounted(ctx, request)
	if err != nil {
		return nil, controller.ProvisioningInBackground, err
	}
	if mounted.State == v1alpha1.MemoryVolumeLost {
		// No PersistentVolume refers to it yet, so nothing is lost with it.
		return nil, controller.ProvisioningInBackground, p.again(ctx, request)
	}
	if text := request.Distrust(mounted); text != "" {
		return nil, controller.ProvisioningInBackground, errors.New(text)
	}
	if err := p.pin(ctx, request, mounted.Incarnation); err != nil {
		return nil, controller.ProvisioningInBackground, err
	}
	return request.PersistentVolume(mounted.Path), controller.ProvisioningFinished, nil
}

// Delete removes the volume of a PersistentVolume whose claim is gone. A node that does not
// exist any more has nothing to remove.
func (p *Provisioner) Delete(ctx context.Context, v *corev1.PersistentVolume) error {
	list := &v1alpha1.PgNodeStorageList{}
	if err := p.Client.List(ctx, list, client.MatchingLabels{naming.LabelProfile: v.Labels[naming.LabelProfile]}); err != nil {
		return fmt.Errorf("list PgNodeStorages: %w", err)
	}
	for i := range list.Items {
		s := &list.Items[i]
		if !memoryvolumes.Has(s, v.Name) {
			continue
		}
		if err := p.edit(ctx, s.Name, func(s *v1alpha1.PgNodeStorage) { memoryvolumes.Remove(s, v.Name) }); err != nil {
			return err
		}
		if err := p.unmounted(ctx, s, v.Name); err != nil {
			return err
		}
	}
	return nil
}

// request of a claim, with the objects that decide about it. Those that do not exist are
// nil.
func (p *Provisioner) request(ctx context.Context, options controller.ProvisionOptions) (memoryvolumes.Request, error) {
	r := memoryvolumes.Request{Class: options.StorageClass, Claim: options.PVC, Volume: options.PVName, NodeName: options.SelectedNodeName}
	var err error
	if r.Profile, err = get(ctx, p.Client, client.ObjectKey{Name: options.StorageClass.Labels[naming.LabelProfile]}, &v1alpha1.PgStorageProfile{}); err != nil {
		return r, err
	}
	cluster := options.PVC.Labels[naming.LabelCNPGCluster]
	if r.Cluster, err = get(ctx, p.Client, client.ObjectKey{Namespace: options.PVC.Namespace, Name: cluster}, &v1alpha1.PgStorageCluster{}); err != nil {
		return r, err
	}
	if r.Node, err = find(ctx, p, options.SelectedNodeName, &corev1.Node{}, &corev1.Node{}); err != nil || r.Profile == nil {
		return r, err
	}
	r.Storage, err = find(ctx, p, naming.NodeStorage(r.Profile.Name, options.SelectedNodeName), &v1alpha1.PgNodeStorage{}, &v1alpha1.PgNodeStorage{})
	return r, err
}

// find an object in the cache. One that is not there, or is being deleted, is read from the
// API server. The cache can lag, and then its claim would be given back.
func find[T interface {
	client.Object
	comparable
}](ctx context.Context, p *Provisioner, name string, cached, live T) (T, error) {
	var none T
	key := client.ObjectKey{Name: name}
	found, err := get(ctx, p.Client, key, cached)
	if err != nil || found != none && found.GetDeletionTimestamp() == nil {
		return found, err
	}
	return get(ctx, p.Readers.Live, key, live)
}

// declare adds the volume to the PgNodeStorage, or says why the node has no room for it.
// It reads the API server: the cache may lack the volume that was added last.
func (p *Provisioner) declare(ctx context.Context, r memoryvolumes.Request) (full string, err error) {
	p.change.Lock()
	defer p.change.Unlock()
	all := &v1alpha1.PgNodeStorageList{}
	if err := p.Readers.Live.List(ctx, all, client.MatchingFields{"spec.nodeName": r.NodeName}); err != nil {
		return "", fmt.Errorf("list PgNodeStorages of node %s: %w", r.NodeName, err)
	}
	if full = r.Full(all.Items); full != "" {
		return full, nil
	}
	return "", p.write(ctx, r.Storage.Name, func(s *v1alpha1.PgNodeStorage) { memoryvolumes.Add(s, r.Volume, r.Size()) })
}

// again removes a volume that was lost before a PersistentVolume referred to it.
func (p *Provisioner) again(ctx context.Context, r memoryvolumes.Request) error {
	if err := p.edit(ctx, r.Storage.Name, func(s *v1alpha1.PgNodeStorage) { memoryvolumes.Remove(s, r.Volume) }); err != nil {
		return err
	}
	return fmt.Errorf("node %s lost the tmpfs before the volume was made; it is made again", r.NodeName)
}

// pin has the agent never mount another tmpfs in place of this one.
func (p *Provisioner) pin(ctx context.Context, r memoryvolumes.Request, incarnation string) error {
	return p.edit(ctx, r.Storage.Name, func(s *v1alpha1.PgNodeStorage) { memoryvolumes.Pin(s, r.Volume, incarnation) })
}

func (p *Provisioner) edit(ctx context.Context, name string, change func(*v1alpha1.PgNodeStorage)) error {
	p.change.Lock()
	defer p.change.Unlock()
	return p.write(ctx, name, change)
}

// write changes the volumes of a PgNodeStorage as the API server has them. Nothing is
// written where nothing changes, or where the object is gone.
func (p *Provisioner) write(ctx context.Context, name string, change func(*v1alpha1.PgNodeStorage)) error {
	s, err := get(ctx, p.Readers.Live, client.ObjectKey{Name: name}, &v1alpha1.PgNodeStorage{})
	if err != nil || s == nil {
		return err
	}
	before := s.DeepCopy()
	if change(s); memoryvolumes.Same(before, s) {
		return nil
	}
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if err := p.Client.Patch(ctx, s, patch, client.FieldOwner(naming.MemoryFieldOwner)); err != nil {
		return fmt.Errorf("change the volumes of PgNodeStorage %s: %w", name, err)
	}
	return nil
}

// mounted waits until the agent reports the volume.
func (p *Provisioner) mounted(ctx context.Context, r memoryvolumes.Request) (*v1alpha1.ObservedMemoryVolume, error) {
	var found *v1alpha1.ObservedMemoryVolume
	err := p.until(ctx, r.Storage.Name, func(s *v1alpha1.PgNodeStorage) bool {
		found = memoryvolumes.Reported(s, r.Volume)
		return found != nil
	})
	if err != nil {
		return nil, fmt.Errorf("the agent of node %s has not mounted the volume within %s. Does a pod of the DaemonSet pgstorage-agent run there? PgNodeStorage %s has its conditions: %w", r.NodeName, patience, r.Storage.Name, err)
	}
	return found, nil
}

// unmounted waits until the agent does not report the volume any more.
func (p *Provisioner) unmounted(ctx context.Context, s *v1alpha1.PgNodeStorage, volume string) error {
	node, err := get(ctx, p.Client, client.ObjectKey{Name: s.Spec.NodeName}, &corev1.Node{})
	if err != nil || node == nil {
		return err
	}
	if err := p.until(ctx, s.Name, func(s *v1alpha1.PgNodeStorage) bool { return memoryvolumes.Reported(s, volume) == nil }); err != nil {
		return fmt.Errorf("the agent of node %s has not unmounted volume %s within %s; PgNodeStorage %s says why: %w", s.Spec.NodeName, volume, patience, s.Name, err)
	}
	return nil
}

// until waits for a PgNodeStorage in the cache. One that is gone has no volumes.
func (p *Provisioner) until(ctx context.Context, name string, done func(*v1alpha1.PgNodeStorage) bool) error {
	return wait.PollUntilContextTimeout(ctx, pause, patience, true, func(ctx context.Context) (bool, error) {
		s, err := get(ctx, p.Client, client.ObjectKey{Name: name}, &v1alpha1.PgNodeStorage{})
		if err != nil {
			return false, err
		}
		if s == nil {
			s = &v1alpha1.PgNodeStorage{}
		}
		return done(s), nil
	})
}

// get an object, or nil where it does not exist.
func get[T client.Object](ctx context.Context, from client.Reader, key client.ObjectKey, into T) (T, error) {
	var none T
	if key.Name == "" {
		return none, nil
	}
	if err := from.Get(ctx, key, into); err != nil {
		if client.IgnoreNotFound(err) == nil {
			return none, nil
		}
		return none, fmt.Errorf("read %T %s: %w", into, key, err)
	}
	return into, nil
}
