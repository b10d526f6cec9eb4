// Package quantity reads Kubernetes quantities that an author chose. An amount such as
// 1e2000000000 has few characters, and a comparison of it takes gigabytes and hours.
package quantity

import (
	"errors"
	"regexp"

	"k8s.io/apimachinery/pkg/api/resource"
)

const (
	// Unbounded is the pattern in the CRDs that controller-gen writes.
	Unbounded = `^(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?$`
	// Pattern of quantities, in place of Unbounded. Numbers have at most 20 digits,
	// 9 behind the point, and 2 in an exponent.
	Pattern = `^(\+|-)?(([0-9]{1,20}(\.[0-9]{0,9})?)|(\.[0-9]{1,9}))(([KMGTPE]i)|[numkMGTPE]|([eE](\+|-)?[0-9]{1,2}))?$`
	// Longest text that matches Pattern, in characters.
	Longest = 35
)

var pattern = regexp.MustCompile(Pattern)

// Parse a text that matches [Pattern]. Others are errors, whatever Kubernetes takes.
func Parse(text string) (resource.Quantity, error) {
	if len(text) > Longest || !pattern.MatchString(text) {
		return resource.Quantity{}, errors.New("give at most 20 digits before the point and 9 behind it, and a suffix such as m or Gi")
	}
	return resource.ParseQuantity(text) //nolint:wrapcheck,forbidigo // the text is bounded, and the error names what is wrong
}

// Equal says that two texts are quantities of one amount, as 1000m and 1 are.
func Equal(a, b string) bool {
	x, err := Parse(a)
	if err != nil {
		return false
	}
	y, err := Parse(b)
	return err == nil && x.Cmp(y) == 0
}
