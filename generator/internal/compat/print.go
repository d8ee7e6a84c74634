package compat

import (
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"apigen.dev/generator/internal/model"
)

// Printer writes findings with the paths of files relative to the folders of the two sources.
type Printer struct {
	// Dir and OldDir are the roots of the new and of the old source; Against is what the user called the latter.
	Dir, OldDir, Against string
}

// Text writes one line for each finding: its position, level, subject, rule and message, and the old position.
func (p Printer) Text(out io.Writer, findings []Finding) error {
	for _, f := range findings {
		line := fmt.Sprintf("%s: %s [%s] %s", f.Level, f.Subject(), f.Rule.ID, f.Message)
		if pos := position(p.Dir, f.Pos); pos != "" {
			line = pos + ": " + line
		}
		if old := position(p.OldDir, f.Old); old != "" {
			line += fmt.Sprintf(" (%s:%s)", p.Against, old)
		}
		if _, err := fmt.Fprintln(out, line); err != nil {
			return err
		}
	}
	return nil
}

type record struct {
	Rule
	// Level is that of the finding, which may be lower than the rule's.
	Level   Level  `json:"level"`
	Subject string `json:"subject"`
	Group   string `json:"group"`
	Version string `json:"version,omitempty"`
	Kind    string `json:"kind,omitempty"`
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	Pos     string `json:"position,omitempty"`
	Old     string `json:"oldPosition,omitempty"`
}

// JSON writes one object a line for each finding.
func (p Printer) JSON(out io.Writer, findings []Finding) error {
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	for _, f := range findings {
		err := e.Encode(record{
			Rule: f.Rule, Level: f.Level, Subject: f.Subject(), Group: f.Group, Version: f.Version, Kind: f.Kind,
			Path: f.Path, Message: f.Message, Pos: position(p.Dir, f.Pos), Old: position(p.OldDir, f.Old),
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// GitHub writes workflow commands, which GitHub shows beside the lines of a pull request.
func (p Printer) GitHub(out io.Writer, findings []Finding) error {
	for _, f := range findings {
		command := map[Level]string{Break: "error", Warn: "warning", Info: "notice"}[f.Level]
		properties := []string{"title=" + escapeProperty(f.Rule.ID)}
		if f.Pos.IsValid() {
			properties = append([]string{
				"file=" + escapeProperty(filepath.ToSlash(relative(p.Dir, f.Pos.Filename))),
				fmt.Sprintf("line=%d", f.Pos.Line), fmt.Sprintf("col=%d", f.Pos.Column),
			}, properties...)
		}
		if _, err := fmt.Fprintf(out, "::%s %s::%s\n", command, strings.Join(properties, ","),
			escapeData(f.Subject()+": "+f.Message)); err != nil {
			return err
		}
	}
	return nil
}

// escapeData and escapeProperty quote as the workflow commands' own toolkit does.
func escapeData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeData(s))
}

func position(dir string, pos model.Position) string {
	if !pos.IsValid() {
		return ""
	}
	pos.Filename = relative(dir, pos.Filename)
	return pos.String()
}

// relative is a path below a folder; one outside of it stays as it is.
func relative(dir, file string) string {
	rel, err := filepath.Rel(dir, file)
	if err != nil || rel == ".." || strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
		return file
	}
	return rel
}
