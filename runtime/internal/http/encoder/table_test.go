package encoder

import (
	"encoding/json"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestVersionsWithoutColumnsShowNameAndAge(t *testing.T) {
	var columns []metav1.TableColumnDefinition
	if err := json.Unmarshal([]byte(NewHeads("", "", nil).jsonColumns()), &columns); err != nil || len(columns) != 2 ||
		columns[0].Name != "Name" || columns[0].Format != "name" || columns[1].Name != "Age" {
		t.Error(err, columns)
	}
}
