package v1

import (
	"k8s.io/apimachinery/pkg/conversion"
	"k8s.io/apimachinery/pkg/runtime"

	"apigen.dev/generator/internal/emit/conversion/testdata/cross/base"
)

// SchemeBuilder is what generated functions are registered with.
var SchemeBuilder runtime.SchemeBuilder

// Part is converted by generated functions.
type Part struct {
	Name  string `json:"name"`
	Count int32  `json:"count"`
}

// Unit is converted by hand.
type Unit struct {
	Feet int `json:"feet"`
}

// Note is laid out alike, and its function only copies.
type Note struct {
	Text string `json:"text"`
}

// Good is what a stock has of.
type Good string

// Stock is laid out alike, and its function only copies.
type Stock map[Good]int64

// Mark is not converted at all.
type Mark struct {
	Text string `json:"text"`
}

func Convert_v1_Unit_To_base_Unit(in *Unit, out *base.Unit, s conversion.Scope) error {
	out.Meters = in.Feet / 3
	return nil
}

func Convert_base_Unit_To_v1_Unit(in *base.Unit, out *Unit, s conversion.Scope) error {
	out.Feet = in.Meters * 3
	return nil
}

// +k8s:conversion-fn=copy-only
func Convert_v1_Note_To_base_Note(in *Note, out *base.Note, s conversion.Scope) error {
	*out = base.Note(*in)
	return nil
}

// +k8s:conversion-fn=copy-only
func Convert_base_Note_To_v1_Note(in *base.Note, out *Note, s conversion.Scope) error {
	*out = Note(*in)
	return nil
}

// Convert_v1_Stock_To_base_Stock copies entry by entry, and keeps what was there.
//
// +k8s:conversion-fn=copy-only
func Convert_v1_Stock_To_base_Stock(in *Stock, out *base.Stock, s conversion.Scope) error {
	if *out == nil && *in != nil {
		*out = base.Stock{}
	}
	for k, v := range *in {
		(*out)[base.Good(k)] = v
	}
	return nil
}

// +k8s:conversion-fn=drop
func Convert_v1_Mark_To_base_Mark(in *Mark, out *base.Mark, s conversion.Scope) error { return nil }

// +k8s:conversion-fn=drop
func Convert_base_Mark_To_v1_Mark(in *base.Mark, out *Mark, s conversion.Scope) error { return nil }

// Span is converted to a number, where it is pointed to.
type Span struct {
	Feet int `json:"feet"`
}

func Convert_Pointer_v1_Span_To_int(in **Span, out *int, s conversion.Scope) error {
	*out = 0
	if *in != nil {
		*out = (*in).Feet
	}
	return nil
}

func Convert_int_To_Pointer_v1_Span(in *int, out **Span, s conversion.Scope) error {
	if *out = nil; *in != 0 {
		*out = &Span{Feet: *in}
	}
	return nil
}
