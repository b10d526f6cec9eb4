package doctor

import (
	"strings"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/pgstorage/pgstorage/internal/operator/profile"
)

// versions checks the running versions of another operator, whose CRDs are installed.
func (c *checker) versions(r profile.Requirement, needed bool) {
	found := c.facts.Operators[r.Name]
	if len(found) == 0 && needed && !c.blind("Deployments of "+r.Name) {
		c.add(Warning, r.Name, "its CRDs are installed, but no Deployment has the label "+labels.FormatLabels(r.Labels), r.Remedy, r.Document)
	}
	for i := range found {
		d := &found[i]
		c.version(r, r.Name+" "+d.Namespace+"/"+d.Name, imageOf(d.Spec.Template.Spec))
	}
}

// version judges one Deployment of another operator by its image.
func (c *checker) version(r profile.Requirement, subject, image string) {
	v := tagged(image)
	if v == nil {
		c.add(Unknown, subject, "cannot read the version from image "+image, "compare its version with the tested ones", r.Document)
		return
	}
	judged := r.Judge(v)
	message := "version " + v.String() + ": " + judged.Differs
	switch {
	case judged.Tested:
		c.ok(subject, message)
	case judged.Remedy == "":
		c.add(Note, subject, message, "", r.Document)
	default:
		c.add(Warning, subject, message, judged.Remedy, r.Document)
	}
}

// tagged returns the version in the tag of an image; nil if it has none. A digest may follow.
func tagged(image string) *version.Version {
	image, _, _ = strings.Cut(image, "@")
	i := strings.LastIndex(image, ":")
	if i < 0 || strings.Contains(image[i:], "/") {
		return nil
	}
	v, err := version.ParseGeneric(image[i+1:])
	if err != nil {
		return nil
	}
	return v
}
