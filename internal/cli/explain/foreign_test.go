package explain

import (
	"strings"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/pgstorage/pgstorage/internal/cli/snapshot"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/testing/golden"
)

// foreign is a Cluster of three instances on two nodes.
func foreign(t *testing.T, change func(*cnpgv1.Cluster)) snapshot.CNPGCluster {
	t.Helper()
	c := &cnpgv1.Cluster{}
	c.Namespace, c.Name, c.Spec.Instances, c.Spec.ImageName = "prod", "shop", 3, "ghcr.io/cloudnative-pg/postgresql:17.6"
	c.Spec.StorageConfiguration = cnpgv1.StorageConfiguration{Size: "10Gi", StorageClass: new("fast")}
	c.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("2Gi"), corev1.ResourceCPU: resource.MustParse("1")}
	c.Spec.PostgresConfiguration.Parameters = map[string]string{"work_mem": "64MB"}
	c.Spec.PostgresConfiguration.Synchronous = &cnpgv1.SynchronousReplicaConfiguration{Method: "any", Number: 1, DataDurability: "required", FailoverQuorum: true}
	c.Status.Phase = cnpgv1.PhaseHealthy
	c.Status.Topology = cnpgv1.Topology{SuccessfullyExtracted: true, NodesUsed: 2, Instances: map[cnpgv1.PodName]cnpgv1.PodTopologyLabels{"shop-1": nil, "shop-2": nil, "shop-3": nil}}
	if change != nil {
		change(c)
	}
	raw, err := runtime.DefaultUnstructuredConverter.ToUnstructured(c)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.CNPGCluster{
		Cluster: &unstructured.Unstructured{Object: raw},
		Classes: []storagev1.StorageClass{{Provisioner: "ebs.csi.aws.com", ReclaimPolicy: new(corev1.PersistentVolumeReclaimDelete), AllowVolumeExpansion: new(true)}},
	}
}

func TestForeignClustersMatchGoldenFiles(t *testing.T) {
	quorum := foreign(t, nil)
	quorum.Classes[0].Name = "fast"
	unsafe := foreign(t, func(c *cnpgv1.Cluster) {
		c.Spec.PostgresConfiguration.Synchronous.DataDurability = "preferred"
		c.Spec.PostgresConfiguration.Parameters = map[string]string{"fsync": "off", "synchronous_commit": "local"}
		c.Spec.Resources, c.Spec.EnableSuperuserAccess = corev1.ResourceRequirements{}, new(true)
		c.Spec.ReplicaCluster = &cnpgv1.ReplicaClusterConfiguration{Source: "other"}
	})
	unsafe.Unread = []snapshot.Unread{{What: "StorageClasses", Why: "forbidden"}}
	for name, s := range map[string]snapshot.CNPGCluster{"foreign-quorum": quorum, "foreign-unsafe": unsafe} {
		t.Run(name, func(t *testing.T) {
			e, err := CNPGCluster(s)
			if err != nil {
				t.Fatal(err)
			}
			golden.Text(t, "testdata/"+name+".golden.txt", e.Text(view.Style{}))
		})
	}
}

func TestForeignOnly(t *testing.T) {
	e, err := CNPGCluster(foreign(t, nil))
	if err != nil {
		t.Fatal(err)
	}
	one, err := e.Only("work_mem")
	if err != nil || len(one.Parameters) != 1 || one.Durability != nil {
		t.Errorf("%v: %+v", err, one)
	}
	if _, err := e.Only("port"); err == nil || !strings.Contains(err.Error(), "prod/shop does not set port") {
		t.Errorf("got error %v, want one about port", err)
	}
}
