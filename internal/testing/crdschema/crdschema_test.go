package crdschema_test

import (
	"fmt"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/testing/apiserver"
	"github.com/pgstorage/pgstorage/internal/testing/crdschema"
)

// recorder of errors, in place of a test.
type recorder struct {
	testing.TB
	errors []string
}

func (r *recorder) Helper()                   {}
func (r *recorder) Errorf(f string, a ...any) { r.errors = append(r.errors, fmt.Sprintf(f, a...)) }

func TestWrongObjectsAreFound(t *testing.T) {
	files, err := apiserver.Foreign(apiserver.CRDs{Rook: true})
	if err != nil {
		t.Fatal(err)
	}
	schemas := crdschema.Load(t, files[0])
	for _, tc := range []struct{ name, object, want string }{
		{"right", `{apiVersion: ceph.rook.io/v1, kind: CephCluster, metadata: {name: a}, spec: {mon: {count: 3}}}`, ""},
		{"unknown field", `{apiVersion: ceph.rook.io/v1, kind: CephCluster, metadata: {name: a}, spec: {mon: {counts: 3}}}`, "CephCluster a: the CRD does not know spec.mon.counts"},
		{"wrong value", `{apiVersion: ceph.rook.io/v1, kind: CephBlockPool, metadata: {name: a}, spec: {replicated: {size: -1}}}`, "spec.replicated.size: Invalid value: -1"},
		{"missing field", `{apiVersion: ceph.rook.io/v1, kind: CephBlockPool, metadata: {name: a}, spec: {erasureCoded: {dataChunks: 2}}}`, "spec.erasureCoded.codingChunks: Required value"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			o := &unstructured.Unstructured{}
			content, err := yaml.YAMLToJSON([]byte(tc.object))
			if err != nil {
				t.Fatal(err)
			}
			if err := o.UnmarshalJSON(content); err != nil {
				t.Fatal(err)
			}
			r := &recorder{TB: t}
			if !schemas.Check(r, o) {
				t.Fatal("the kind is not known")
			}
			if found := strings.Join(r.errors, "\n"); !strings.Contains(found, tc.want) || (tc.want == "") != (found == "") {
				t.Errorf("found %q, want %q", found, tc.want)
			}
		})
	}
}
