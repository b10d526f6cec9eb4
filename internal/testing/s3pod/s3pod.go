// Package s3pod is an S3 server in a Kubernetes cluster, for tests of what runs there.
package s3pod

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

const (
	// Bucket that there is.
	Bucket = "lake"
	// Region of the server.
	Region = "us-east-1"

	name = "s3"
	port = 7070
)

// Store is a versitygw in a pod, whose objects end with the pod.
type Store struct {
	// Namespace of its objects, which must exist.
	Namespace string
	// Image that hack/images.sh s3 makes.
	Image string
	// AccessKey and SecretKey of who may do everything.
	AccessKey, SecretKey string
	// NodeSelector of the pod, for clusters with more than one node.
	NodeSelector map[string]string
	// OnNode makes the store answer on the address of its node, as one outside of the cluster. It
	// begins without a bucket, and takes users.
	OnNode bool
}

// Address of the store of a pod OnNode.
func Address(pod *corev1.Pod) string { return fmt.Sprintf("http://%s:%d", pod.Status.HostIP, port) }

// Endpoint by which the cluster's pods reach the store.
func (s Store) Endpoint() string { return fmt.Sprintf("http://%s.%s.svc:%d", name, s.Namespace, port) }

// ObjectStore of the Barman Cloud plugin for a folder of the bucket. It names the Secret of Keys.
func (s Store) ObjectStore(name string) *unstructured.Unstructured {
	key := func(of string) map[string]any { return map[string]any{"name": keys(name), "key": of} }
	o := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "barmancloud.cnpg.io/v1", "kind": "ObjectStore",
		"spec": map[string]any{
			"retentionPolicy": "30d",
			"configuration": map[string]any{
				"destinationPath": "s3://" + Bucket + "/backups", "endpointURL": s.Endpoint(),
				"s3Credentials": map[string]any{"accessKeyId": key("ACCESS_KEY_ID"), "secretAccessKey": key("ACCESS_SECRET_KEY")},
				"wal":           map[string]any{"compression": "gzip"},
				"data":          map[string]any{"compression": "gzip"},
			},
		},
	}}
	o.SetNamespace(s.Namespace)
	o.SetName(name)
	return o
}

// Keys is the Secret of an ObjectStore.
func (s Store) Keys(objectStore string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: keys(objectStore)},
		StringData: map[string]string{"ACCESS_KEY_ID": s.AccessKey, "ACCESS_SECRET_KEY": s.SecretKey},
	}
}

func keys(objectStore string) string { return objectStore + "-keys" }

// Objects to create: a Secret, a Service and a Pod.
func (s Store) Objects() []client.Object {
	object := metav1.ObjectMeta{Namespace: s.Namespace, Name: name, Labels: map[string]string{"app": name}}
	return []client.Object{
		&corev1.Secret{ObjectMeta: object, StringData: map[string]string{"ROOT_ACCESS_KEY": s.AccessKey, "ROOT_SECRET_KEY": s.SecretKey}},
		&corev1.Service{ObjectMeta: object, Spec: corev1.ServiceSpec{Selector: object.Labels, Ports: []corev1.ServicePort{{Port: port}}}},
		&corev1.Pod{ObjectMeta: object, Spec: s.pod()},
	}
}

func (s Store) pod() corev1.PodSpec {
	var users []string
	// A bucket is a folder, and a mount is one.
	folders := map[string]string{"data": "/data/" + Bucket}
	if s.OnNode {
		users = []string{"--iam-dir", "/iam"}
		folders = map[string]string{"data": "/data", "iam": "/iam"}
	}
	spec := corev1.PodSpec{
		NodeSelector: s.NodeSelector, HostNetwork: s.OnNode,
		Containers: []corev1.Container{{
			Name: name, Image: s.Image,
			Args:    append(users, "--quiet", "--region", Region, "--port", fmt.Sprintf(":%d", port), "posix", "/data"),
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: name}}}},
		}},
	}
	for folder, path := range folders {
		spec.Containers[0].VolumeMounts = append(spec.Containers[0].VolumeMounts, corev1.VolumeMount{Name: folder, MountPath: path})
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: folder, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	return spec
}
