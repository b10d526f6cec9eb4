//go:build linux

package measure

import (
	"encoding/json"
	"fmt"
	"os"
)

// Print a fact for the host, on a line that begins with a word.
func Print(word string, fact any) {
	text, err := json.Marshal(fact)
	if err != nil {
		panic(err) // facts have numbers and names only
	}
	fmt.Printf("%s %s\n", word, text)
}

// Read a file of JSON that the host wrote.
func Read(path string, to any) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, to)
}
