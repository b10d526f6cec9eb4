package status

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// No object without fields is sent, and a status that differs by nothing else is not written.
func TestEmptyObjectsAreNotSent(t *testing.T) {
	volume := v1alpha1.ObservedMemoryVolume{Name: "a"}
	with, empty, without := &v1alpha1.ObservedMemory{Volumes: []v1alpha1.ObservedMemoryVolume{volume}}, &v1alpha1.ObservedMemory{}, (*v1alpha1.ObservedMemory)(nil)
	for _, c := range []struct {
		name       string
		have, want *v1alpha1.ObservedMemory
		sent       map[string]any
		same       bool
	}{
		{"the first volume", without, with, map[string]any{"memory": map[string]any{"volumes": []any{map[string]any{"name": "a"}}}}, false},
		{"the last volume goes", with, empty, map[string]any{}, false},
		{"no volume as before", without, empty, map[string]any{}, true},
		{"an empty object of an earlier release", empty, without, map[string]any{}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			sent, same, err := sent(v1alpha1.PgNodeStorageStatus{Memory: c.have}, v1alpha1.PgNodeStorageStatus{Memory: c.want})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.sent, sent); diff != "" || same != c.same {
				t.Errorf("same is %v, want %v; sent:\n%s", same, c.same, diff)
			}
		})
	}
}

// Objects that become empty without their fields go too; other empty values stay.
func TestWithoutEmpty(t *testing.T) {
	for _, c := range []struct {
		name          string
		content, want map[string]any
		found         bool
	}{
		{"nothing is empty", map[string]any{"a": map[string]any{"b": 1.0}}, map[string]any{"a": map[string]any{"b": 1.0}}, false},
		{"within another one", map[string]any{"a": map[string]any{"b": map[string]any{}}}, map[string]any{}, true},
		{"within a list", map[string]any{"a": []any{map[string]any{"b": map[string]any{}, "c": ""}}}, map[string]any{"a": []any{map[string]any{"c": ""}}}, true},
		{"zero values and lists stay", map[string]any{"a": []any{}, "b": false, "c": 0.0}, map[string]any{"a": []any{}, "b": false, "c": 0.0}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if found := withoutEmpty(c.content); found != c.found {
				t.Errorf("found is %v", found)
			}
			if diff := cmp.Diff(c.want, c.content); diff != "" {
				t.Error(diff)
			}
		})
	}
}
