package plot

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"
	"time"
)

// TestSVG: a chart is XML whatever its texts are, shows what it is given, and has no number that isn't one.
func TestSVG(t *testing.T) {
	line := Line{Name: `<b> & "c"`, Points: []Point{{0, 1, true}, {time.Second, 3, true}, {2 * time.Second, 2, false}}}
	marks := []Mark{{"kill <it>", 0, time.Second}, {"", time.Second, 2 * time.Second}}
	bytes := func(value float64) string { return time.Duration(value).String() + " <MB>" }
	for name, c := range map[string]Chart{
		"empty": {Title: "a & b"}, "line": {Title: "a & b", Lines: []Line{line, line}},
		"small":  {Title: "a & b", Lines: []Line{line}, Width: 300, Height: 150, Legend: 2, Label: bytes},
		"zeroes": {Title: "a & b", Lines: []Line{{Points: []Point{{0, 0, true}}}}},
	} {
		t.Run(name, func(t *testing.T) {
			text := c.SVG(2*time.Second, marks)
			elements := map[string]int{}
			for d := xml.NewDecoder(strings.NewReader(text)); ; {
				token, err := d.Token()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%v\n%s", err, text)
				}
				if start, ok := token.(xml.StartElement); ok {
					elements[start.Name.Local]++
				}
			}
			if elements["svg"] != 1 || elements["rect"] != len(marks) || elements["path"] < 2+len(c.Lines) {
				t.Errorf("%v\n%s", elements, text)
			}
			for _, bad := range []string{"NaN", "Inf", "<it>", "<b>", "<MB>"} {
				if strings.Contains(text, bad) {
					t.Errorf("it has %s\n%s", bad, text)
				}
			}
		})
	}
}

func TestPath(t *testing.T) {
	c := Chart{Lines: []Line{{Points: []Point{{0, 0, true}, {time.Second, 4, true}, {2 * time.Second, 2, false}}}},
		Width: 270, Height: 154}
	if got := c.Lines[0].path(c.frame(2 * time.Second)); got != "M60.0 130.0L160.0 30.0M260.0 80.0" {
		t.Error(got)
	}
}

func TestDistance(t *testing.T) {
	for most, want := range map[float64]float64{0: 1, 1: .5, 3: 1, 4: 2, 9.9: 2, 10: 5, 399: 100, 400: 200, 1e6: 5e5} {
		if got := distance(most); math.Abs(got-want) > want/1e9 {
			t.Errorf("%g: %g, want %g", most, got, want)
		}
	}
}
