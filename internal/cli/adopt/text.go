package adopt

import (
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/cli/view"
	"github.com/pgstorage/pgstorage/internal/operator/adoption"
)

// Document is an object as a user writes it: without status and empty metadata.
func Document(object any) (*unstructured.Unstructured, error) {
	raw, err := json.Marshal(object)
	if err != nil {
		return nil, fmt.Errorf("write %T: %w", object, err)
	}
	out := &unstructured.Unstructured{}
	if err := out.UnmarshalJSON(raw); err != nil {
		return nil, fmt.Errorf("read %T: %w", object, err)
	}
	unstructured.RemoveNestedField(out.Object, "status")
	unstructured.RemoveNestedField(out.Object, "metadata", "creationTimestamp")
	return out, nil
}

// Documents are the objects to create: each profile once, and then the PgStorageClusters.
func Documents(candidates []*Candidate) ([]*unstructured.Unstructured, error) {
	var objects []any
	for _, p := range NewProfiles(candidates, (*Candidate).isWritten) {
		objects = append(objects, p)
	}
	for _, c := range candidates {
		if c.isWritten() {
			objects = append(objects, c.Cluster)
		}
	}
	var out []*unstructured.Unstructured
	for _, o := range objects {
		document, err := Document(o)
		if err != nil {
			return nil, err
		}
		out = append(out, document)
	}
	return out, nil
}

// YAML of the objects to create, with what was not adopted as comments.
func YAML(candidates []*Candidate) (string, error) {
	var b strings.Builder
	for _, c := range candidates {
		for _, text := range c.reasons() {
			fmt.Fprintf(&b, "# %s %s: %s\n", c.Live.GetName(), strings.ToLower(string(c.Outcome)), view.Clean(text))
		}
	}
	documents, err := Documents(candidates)
	if err != nil {
		return "", err
	}
	for _, d := range documents {
		raw, err := yaml.Marshal(d.Object)
		if err != nil {
			return "", fmt.Errorf("write %s %s: %w", d.GetKind(), d.GetName(), err)
		}
		b.WriteString("---\n" + string(raw))
	}
	return b.String(), nil
}

// reasons of an outcome that is not Unchanged.
func (c *Candidate) reasons() []string {
	if c.Problem != "" {
		return []string{c.Problem}
	}
	out := c.Refusals
	for _, change := range adoption.OfSpec(c.Changes) {
		out = append(out, change.Path+" changes")
	}
	return out
}

// Text of one candidate: the difference that taking it over makes, and who restarts. created
// are the profiles that exist now because of the command.
func (c *Candidate) Text(style view.Style, created []*v1alpha1.PgStorageProfile) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	state := map[Outcome]view.State{Unchanged: view.Ready, Adopted: view.Ready, Owned: view.Ready, Changed: view.Waiting, Refused: view.Stalled, Failed: view.Stalled, Unknown: view.Unknown}[c.Outcome]
	line("%s %s", style.Strong(view.Clean(c.Live.GetNamespace()+"/"+c.Live.GetName())), style.Paint(state, string(c.Outcome)))
	for _, n := range c.Description.Notes {
		line("%s %s", style.Paint(view.Waiting, "note:"), view.Clean(n))
	}
	for _, r := range c.Refusals {
		line("%s %s", style.Paint(view.Stalled, "refused:"), view.Clean(r))
	}
	if c.Problem != "" {
		line("%s %s", style.Paint(state, strings.ToLower(string(c.Outcome))+":"), view.Clean(c.Problem))
	}
	if c.hasNoPlan() {
		return b.String() + Consents(created)
	}
	b.WriteString(c.profile())
	line("\n%s", style.Strong("Changes of the CloudNativePG Cluster"))
	rows := [][]string{{"FIELD", "NOW", "THEN"}}
	for _, change := range c.Changes {
		rows = append(rows, []string{change.Path, view.Or(change.From), view.Or(change.To)})
	}
	b.WriteString(view.Columns(rows...))
	c.restarts(line)
	return b.String()
}

// hasNoPlan reports whether the changes of a candidate are not known, or do not happen.
func (c *Candidate) hasNoPlan() bool {
	return c.Outcome == Refused || c.Outcome == Unknown || c.Outcome == Owned || c.Outcome == Failed
}

func (c *Candidate) profile() string {
	if !c.NewProfile {
		return fmt.Sprintf("PgStorageProfile %s exists and has its StorageClass.\n", c.Profile.Name)
	}
	return Consents([]*v1alpha1.PgStorageProfile{c.Profile})
}

// Consents lists new profiles, and what each of them consents to.
func Consents(profiles []*v1alpha1.PgStorageProfile) string {
	var b strings.Builder
	for _, p := range profiles {
		fmt.Fprintf(&b, "PgStorageProfile %s of type External is created for StorageClass %s.\n", view.Clean(p.Name), view.Clean(p.Spec.External.StorageClassName))
		if needs := p.Spec.AllowedOverrides; len(needs) > 0 {
			fmt.Fprintf(&b, "Its spec.allowedOverrides consents, for every namespace, to: %s.\n", strings.Join(needs, ", "))
		}
	}
	return b.String()
}

func (c *Candidate) restarts(line func(string, ...any)) {
	switch {
	case len(c.Restarts) > 0:
		line("Every instance restarts, one by one, because of %s.", strings.Join(c.Restarts, ", "))
	case c.Outcome == Changed:
		line("No instance restarts.")
	default:
		line("Only labels and annotations change. No instance restarts.")
	}
}

// Table of many candidates, and below it the profiles that are created for them.
func Table(candidates []*Candidate, created []*v1alpha1.PgStorageProfile) string {
	rows := [][]string{{"NAME", "OUTCOME", "PROFILE", "DURABILITY", "RESTARTS", "DETAIL"}}
	counts := map[Outcome]int{}
	for _, c := range candidates {
		counts[c.Outcome]++
		restarts := "none"
		switch {
		case c.hasNoPlan():
			restarts = "-"
		case len(c.Restarts) > 0:
			restarts = "all"
		}
		rows = append(rows, []string{c.Live.GetName(), string(c.Outcome), c.Profile.Name, string(c.Cluster.Spec.Durability), restarts, view.Or(strings.Join(c.reasons(), "; "))})
	}
	var sums []string
	for _, o := range []Outcome{Adopted, Unchanged, Changed, Owned, Refused, Unknown, Failed} {
		if counts[o] > 0 {
			sums = append(sums, fmt.Sprintf("%d %s", counts[o], strings.ToLower(string(o))))
		}
	}
	return view.Columns(rows...) + fmt.Sprintf("%d Clusters: %s\n", len(candidates), strings.Join(sums, ", ")) + Consents(created)
}
