//go:build linux

package measure

import (
	"encoding/json"
	"fmt"
	"os"
)

// Tell the host a fact, on a line of its own that begins with a word.
func Tell(word string, fact any) {
	text, err := json.Marshal(fact)
	if err != nil {
		panic(err) // numbers and names
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
