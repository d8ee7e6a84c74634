package scaffold

import (
	"regexp"
	"slices"
	"strings"
)

// text returns the text of a file in the new version: its head, the imports that it needs, and the declarations that
// were taken. It is empty where nothing of the file is needed.
func (c *copied) text(f *sourceFile) string {
	var parts, imports []string
	used := map[string]bool{}
	for _, d := range f.parts {
		if !c.taken[d] {
			continue
		}
		parts = append(parts, c.declaration(d))
		for _, name := range d.uses() {
			used[name] = true
		}
	}
	documented := groupMarker.MatchString(f.head) && c.there.group() == ""
	if len(parts) == 0 && !documented {
		return ""
	}
	gap := ""
	for _, i := range f.imports {
		if i.apart {
			gap = "\n"
		}
		if slices.ContainsFunc(importNames(i.spec), func(name string) bool { return used[name] }) {
			line := i.spec.Path.Value
			if i.spec.Name != nil {
				line = i.spec.Name.Name + " " + line
			}
			imports, gap = append(imports, gap+line), ""
		}
	}
	text := c.head(f.head, documented) + "package " + c.Version + "\n"
	if len(imports) > 0 {
		text += "\nimport (\n" + strings.Join(imports, "\n") + "\n)\n"
	}
	for _, part := range parts {
		text += "\n" + part + "\n"
	}
	return text
}

// ofOneVersion are the markers that say something of the version which they stand in, and not of its copy.
var (
	ofOneVersion = regexp.MustCompile(`(?m)^[ \t]*//[ \t]*\+(kubebuilder:(storageversion|unservedversion|` +
		`deprecatedversion)|apigen:preferred|versionName)\b.*\n`)
	ofConversions = regexp.MustCompile(`(?m)^[ \t]*//[ \t]*\+apigen:conversion:.*\n`)
)

// declaration returns the text of a declaration. The markers of conversions to the hub mean nothing in a copy of the
// hub, whose fields have the same names.
func (c *copied) declaration(d *declaration) string {
	text := ofOneVersion.ReplaceAllString(d.text, "")
	if c.isHub() {
		text = ofConversions.ReplaceAllString(text, "")
	}
	if isConversion(d) {
		text = strings.ReplaceAll(text, "onvert_"+c.From+"_", "onvert_"+c.Version+"_")
		text = strings.ReplaceAll(text, "_To_"+c.From+"_", "_To_"+c.Version+"_")
	}
	return text
}

// head returns what stands before the package clause, with the new version in its sentences. Where another file of the
// new version has the markers of the package, its comment is left out.
func (c *copied) head(text string, documented bool) string {
	if groupMarker.MatchString(text) && !documented {
		return ""
	}
	version := regexp.MustCompile(`\b` + c.From + `\b`)
	var out strings.Builder
	for line := range strings.Lines(ofOneVersion.ReplaceAllString(text, "")) {
		if !strings.HasPrefix(strings.TrimLeft(line, "/ \t"), "+") {
			line = version.ReplaceAllString(line, c.Version)
		}
		out.WriteString(line)
	}
	return out.String()
}
