//go:build linux

// Package declare renders on the host what the manager would. It renders a node's storage of
// the profile S3NBD, the pods of its servers, and the parameters of a small cluster.
package declare

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/durability"
	"github.com/pgstorage/pgstorage/internal/kube/plan"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/operator/postgres"
	"github.com/pgstorage/pgstorage/internal/operator/profile/s3nbd"
	"github.com/pgstorage/pgstorage/internal/zerofs"
	postgresdeclare "github.com/pgstorage/pgstorage/test/vm/postgres/declare"
	"github.com/pgstorage/pgstorage/test/vm/s3nbd/job"
)

const (
	// Node that the guest is.
	Node = "guest"
	// Pool of the profile.
	Pool = "lake"
	// prefix in each bucket.
	prefix = "prod"
)

// Store is an S3 server as the guest sees it.
type Store struct {
	Name, Bucket, Endpoint, Region, AccessKey, SecretKey, Password string
}

// Prefix in the bucket of a store that the node's server has for itself.
func Prefix() string { return prefix + "/vm/" + Node }

// Stack is what differs between tests.
type Stack struct {
	Stores []Store
	// Exports of each server, of ExportSize.
	Exports    int
	ExportSize string
	// RequestTimeout of a mirror; more than one store is one.
	RequestTimeout string
	// MemoryBytes that Postgres may use.
	MemoryBytes int64
}

// Job for a guest. All that is not in Stack has the API's default.
func (s Stack) Job(root string) (job.Job, error) {
	p, err := postgresdeclare.Profile(root, s.profile())
	if err != nil {
		return job.Job{}, err
	}
	built, err := s3nbd.Type{}.Build(p, observed.Profile{
		Nodes:    []observed.Node{{Name: Node, Selected: true}},
		Operator: observed.Operator{Namespace: "pgstorage-system", Image: "pgstorage"},
	})
	if err != nil {
		return job.Job{}, err
	}
	out := job.Job{Storage: &v1alpha1.PgNodeStorage{}}
	if err := only(built.Plan.Objects, "PgNodeStorage", Node, out.Storage); err != nil {
		return out, err
	}
	out.Storage.Generation = 1
	for i, store := range s.Stores {
		server, err := store.server(i, built.Plan.Objects)
		if err != nil {
			return out, err
		}
		out.Servers = append(out.Servers, server)
	}
	out.Parameters, err = s.parameters(p)
	return out, err
}

func (s Stack) profile() map[string]any {
	var stores []any
	for _, store := range s.Stores {
		stores = append(stores, map[string]any{
			"name": store.Name, "bucket": store.Bucket, "prefix": prefix, "endpoint": store.Endpoint, "region": store.Region,
			"allowHTTP": true, "credentialsSecret": "keys", "encryptionSecret": "encryption",
		})
	}
	spec := map[string]any{
		"pool": map[string]any{"name": Pool}, "stores": stores, "arcMax": "256Mi",
		"devices": map[string]any{"count": s.Exports, "size": s.ExportSize},
		"zeroFS": map[string]any{
			"family": string(v1alpha1.ZeroFS019), "image": "zerofs:0.19.1",
			"cache": map[string]any{"size": "1Gi", "memory": "100Mi"},
		},
	}
	if len(s.Stores) > 1 {
		spec["layout"] = string(v1alpha1.S3NBDMirror)
		spec["requestTimeout"] = s.RequestTimeout
	}
	return map[string]any{"type": string(v1alpha1.ProfileTypeS3NBD), "nodeSelector": map[string]any{"pool": Pool}, "s3NBD": spec}
}

func (s Stack) parameters(p *v1alpha1.PgStorageProfile) (map[string]string, error) {
	volumes := s3nbd.Type{}.Volumes(p)
	return postgresdeclare.Parameters(postgres.Inputs{
		Major: 15, Workload: postgres.OLTP, Medium: volumes.Medium, Tier: durability.Local, Instances: 1, CPUs: 1,
		MemoryBytes: s.MemoryBytes, DataBytes: 1 << 30, WALBytes: 1 << 30, Profile: volumes.Parameters,
	})
}

// server is the pod of a store's DaemonSet, as the kubelet would run it: with the
// node's paths in place of the pod's.
func (s Store) server(number int, objects []plan.Object) (job.Server, error) {
	var set appsv1.DaemonSet
	var config corev1.ConfigMap
	name := "-" + s.Name + "-"
	if err := errors.Join(only(objects, "DaemonSet", name, &set), only(objects, "ConfigMap", name, &config)); err != nil {
		return job.Server{}, err
	}
	pod := set.Spec.Template.Spec
	paths := []string{}
	out := job.Server{Name: s.Name, Files: map[string]string{}, Environment: s.environment()}
	for _, container := range append(pod.InitContainers, pod.Containers...) {
		for _, mount := range container.VolumeMounts {
			host := hostPath(pod, mount.Name, s.Name)
			switch mount.Name {
			case "sockets":
				out.Directory = host
			case "cache":
				out.Cache = host
			}
			if mount.SubPath != "" {
				host += "/" + mount.SubPath
			}
			paths = append(paths, mount.MountPath, host)
		}
	}
	ofNode := strings.NewReplacer(paths...)
	for file, text := range config.Data {
		out.Files[hostPath(pod, "config", s.Name)+"/"+file] = ports(number, ofNode.Replace(text))
	}
	expand := strings.NewReplacer("/agent", "/payload/agent", zerofs.NodeNameInURL, Node)
	for _, c := range pod.InitContainers {
		if c.Name == "preflight" {
			for _, word := range append(c.Command, c.Args...) {
				out.Preflight = append(out.Preflight, expand.Replace(word))
			}
		}
	}
	for _, word := range append(pod.Containers[0].Command, pod.Containers[0].Args...) {
		out.Run = append(out.Run, ports(number, ofNode.Replace(word)))
	}
	return out, nil
}

// podPorts are what a pod listens on. Pods have a network each; in the guest there is one.
var podPorts = regexp.MustCompile(`:909[0-9]\b`)

func ports(number int, text string) string {
	return podPorts.ReplaceAllStringFunc(text, func(port string) string {
		n, _ := strconv.Atoi(port[1:]) // digits
		return fmt.Sprintf(":%d", n+10*number)
	})
}

// hostPath of a volume. What the kubelet creates for a pod is in the guest's payload, or in a
// folder of its own.
func hostPath(pod corev1.PodSpec, volume, store string) string {
	for _, v := range pod.Volumes {
		switch {
		case v.Name != volume:
		case v.HostPath != nil:
			return v.HostPath.Path
		case v.Name == "bin":
			return "/payload"
		}
	}
	return "/run/pod/" + store + "/" + volume
}

// environment that the kubelet would read from Secrets.
func (s Store) environment() []string {
	return []string{
		zerofs.EnvNodeName + "=" + Node, zerofs.EnvAccessKeyID + "=" + s.AccessKey,
		zerofs.EnvSecretAccessKey + "=" + s.SecretKey, zerofs.EnvPassword + "=" + s.Password,
	}
}

// only object of a kind with a part of its name.
func only(objects []plan.Object, kind, name string, to any) error {
	for _, object := range objects {
		if object.Content.GetKind() != kind || !strings.Contains(object.Content.GetName(), name) {
			continue
		}
		raw, err := json.Marshal(object.Content.Object)
		if err != nil {
			return err
		}
		return json.Unmarshal(raw, to)
	}
	return fmt.Errorf("the profile plans no %s with %q", kind, name)
}
