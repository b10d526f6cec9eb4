// Command quantities bounds the quantities of CRDs, in place. controller-gen writes Kubernetes'
// own pattern, which has no bound. An API server evaluates CEL rules although a pattern does not
// match, and CEL compares 1e2000000000 for hours. So the pattern is replaced, and each isQuantity
// of a rule is preceded by the same bound in CEL. Usage: go run ./hack/quantities FILE...
package main

import (
	"fmt"
	"os"
	"regexp"
	"strings"

	"sigs.k8s.io/yaml"

	"github.com/pgstorage/pgstorage/internal/kube/quantity"
)

func main() {
	for _, file := range os.Args[1:] {
		if err := bound(file); err != nil {
			fmt.Fprintf(os.Stderr, "bound the quantities of %s: %v\n", file, err)
			os.Exit(1)
		}
	}
}

func bound(file string) error {
	text, err := os.ReadFile(file) //nolint:gosec // hack/generate.sh names it
	if err != nil {
		return err
	}
	var crd map[string]any
	if err := yaml.Unmarshal(text, &crd); err != nil {
		return err
	}
	if err := visit(crd); err != nil {
		return err
	}
	out, err := yaml.Marshal(crd)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("---\n"), out...), 0o644) //nolint:gosec // a source file, which everybody may read
}

// visit bounds what is in a value, and those below it.
func visit(v any) error {
	switch v := v.(type) {
	case map[string]any:
		if v["pattern"] == quantity.Unbounded {
			v["pattern"] = quantity.Pattern
		}
		if err := boundRules(v); err != nil {
			return err
		}
		for _, below := range v {
			if err := visit(below); err != nil {
				return err
			}
		}
	case []any:
		for _, below := range v {
			if err := visit(below); err != nil {
				return err
			}
		}
	}
	return nil
}

func boundRules(schema map[string]any) error {
	rules, _ := schema["x-kubernetes-validations"].([]any)
	for _, r := range rules {
		rule, _ := r.(map[string]any)
		text, isText := rule["rule"].(string)
		if !isText {
			continue
		}
		guarded, err := guard(text)
		if err != nil {
			return err
		}
		rule["rule"] = guarded
	}
	return nil
}

var (
	// asks whether a value is a quantity.
	asks = regexp.MustCompile(`isQuantity\((string\([^()]*\)|[^()]*)\)`)
	// reads a value that is not a constant of the rule.
	reads = regexp.MustCompile(`\bquantity\((string\([^()]*\)|[^()']*)\)`)
)

// guard each isQuantity of a rule, so that CEL reads no text that is long or has an exponent of
// more than two digits. CEL evaluates && from the left.
func guard(rule string) (string, error) {
	for _, found := range reads.FindAllStringSubmatch(rule, -1) {
		if !strings.Contains(rule, "isQuantity("+found[1]+")") {
			return "", fmt.Errorf("the rule %q reads %s without isQuantity(%s) before it", rule, found[0], found[1])
		}
	}
	return asks.ReplaceAllString(rule, fmt.Sprintf(`(size($1) <= %d && !$1.matches('[eE]....') && isQuantity($1))`, quantity.Longest)), nil
}
