package harness

import (
	"fmt"
	"strconv"
	"strings"
)

// Clients is a flag: a comma-separated list of numbers of clients, each at least 1.
type Clients []int

// String implements flag.Value.
func (c *Clients) String() string {
	var words []string
	for _, n := range *c {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}

// Set implements flag.Value.
func (c *Clients) Set(text string) error {
	var all []int
	for word := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(word)
		if err != nil || n < 1 {
			return fmt.Errorf("%q is not a number of clients", word)
		}
		all = append(all, n)
	}
	*c = all
	return nil
}
