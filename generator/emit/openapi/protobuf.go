package openapi

const (
	protobufType      = "application/vnd.kubernetes.protobuf"
	protobufWatchType = protobufType + ";stream=watch"
)

// addProtobuf adds protobuf to the bodies, answers and streams of a kind's paths wherever they have CBOR, except in
// patches.
func addProtobuf(paths object) {
	for _, item := range paths {
		for _, value := range item.(object) {
			operation, ok := value.(object)
			if !ok {
				continue // parameters
			}
			if body, ok := operation["requestBody"].(object); ok {
				addProtobufContent(body)
			}
			for _, response := range operation["responses"].(object) {
				addProtobufContent(response.(object))
			}
		}
	}
}

func addProtobufContent(body object) {
	content, _ := body["content"].(object)
	for text, protobuf := range map[string]string{cborType: protobufType, cborWatchType: protobufWatchType} {
		if schema, ok := content[text]; ok {
			content[protobuf] = schema
		}
	}
}
