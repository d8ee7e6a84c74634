package encoder

import (
	"time"

	"apigen.dev/runtime/api"
	"apigen.dev/runtime/internal/object/rendition"
	"apigen.dev/runtime/internal/verb"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// defaultColumns are the columns of a version that declares none.
var defaultColumns = []api.Column{
	{Name: "Name", Type: "string", Format: "name", Description: "Name must be unique within a namespace."},
	{Name: "Age", Type: "date", Description: "The time since the object was created."},
}

func tableColumns(columns []api.Column) []metav1.TableColumnDefinition {
	if len(columns) == 0 {
		columns = defaultColumns
	}
	definitions := make([]metav1.TableColumnDefinition, len(columns))
	for i, c := range columns {
		definitions[i] = metav1.TableColumnDefinition{
			Name: c.Name, Type: c.Type, Format: c.Format, Description: c.Description, Priority: c.Priority,
		}
	}
	return definitions
}

func isRow(s verb.Shape) bool {
	s = s.Plain()
	return s == verb.Row || s == verb.RowWithMetadata || s == verb.RowWithObject
}

// table writes a Table of one row. Of a row with an object, the shape Row shows the resourceVersion alone.
func (f *Frame) table(shape verb.Shape, row *verb.Rendition, columns string, now time.Time) {
	f.text(headsOf(shape).jsonTable)
	if row.VersionLen > 0 {
		f.text(`"resourceVersion":"`)
		f.bytes(row.Payload[row.VersionAt : row.VersionAt+row.VersionLen])
		f.text(`"`)
	}
	f.text(`},"columnDefinitions":`)
	f.text(columns)
	f.text(`,"rows":[`)
	if shape.Plain() == verb.Row {
		row = rendition.WithoutObject(row, verb.JSON)
	}
	f.rendition(row, true, now)
	f.text(`]}`)
}
