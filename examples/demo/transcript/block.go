// Package transcript reads the code blocks of Markdown pages, and runs those that are shell sessions. The demo and the
// test of the manual use it. It imports nothing but the standard library.
package transcript

import (
	"os"
	"strings"
)

// Block is a fenced code block of a page.
type Block struct {
	Page string
	// Line is that of the opening fence, from 1.
	Line int
	// Language is the first word behind the fence, and Info the rest: file=... says which file a snippet quotes.
	Language, Info string
	Lines          []string
	// Heading is the text of the heading above the block.
	Heading string
	// Directory is what the comment <!-- transcript: ... --> right above the block names: a folder or an archive that
	// a new session starts with. "" continues the page's session.
	Directory string
}

const (
	fence     = "```"
	directive = "<!-- transcript: "
)

// Blocks returns the code blocks of the page in a file, in their order.
func Blocks(page string) ([]Block, error) {
	content, err := os.ReadFile(page)
	if err != nil {
		return nil, err
	}
	var blocks []Block
	var open *Block
	above, title := "", ""
	for i, line := range strings.Split(string(content), "\n") {
		switch {
		case open == nil && strings.HasPrefix(line, fence):
			language, info, _ := strings.Cut(strings.TrimPrefix(line, fence), " ")
			open = &Block{Page: page, Line: i + 1, Language: language, Info: info, Heading: title}
			if name, ok := strings.CutPrefix(above, directive); ok {
				open.Directory = strings.TrimSuffix(name, " -->")
			}
		case open != nil && line == fence:
			blocks, open = append(blocks, *open), nil
		case open != nil:
			open.Lines = append(open.Lines, line)
		case strings.HasPrefix(line, "#"):
			title = strings.TrimLeft(line, "# ")
		}
		above = line
	}
	return blocks, nil
}

// Step is a command of a transcript, and what it prints.
type Step struct {
	// Line is the command's line in the page.
	Line    int
	Command string
	// Want are the lines of the output. A line "..." stands for any lines, and ... within a line for any text.
	Want []string
	// Status is the exit status: that of a last line [exit status N], or 0.
	Status string
}

// Steps returns the commands of a block.
func (b Block) Steps() []Step {
	var steps []Step
	for i, line := range b.Lines {
		if command, ok := strings.CutPrefix(line, "$ "); ok {
			steps = append(steps, Step{Line: b.Line + 1 + i, Command: command, Status: "0"})
			continue
		}
		if len(steps) == 0 {
			continue
		}
		last := &steps[len(steps)-1]
		if status, ok := strings.CutPrefix(line, "[exit status "); ok {
			last.Status = strings.TrimSuffix(status, "]")
			continue
		}
		last.Want = append(last.Want, line)
	}
	return steps
}
