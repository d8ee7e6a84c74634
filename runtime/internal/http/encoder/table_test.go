package encoder

import (
	"encoding/json"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
)

func TestVersionsWithoutColumnsShowNameAndAge(t *testing.T) {
	var columns []metav1.TableColumnDefinition
	if err := json.Unmarshal([]byte(NewHeads("", "", nil).jsonColumns()), &columns); err != nil || len(columns) != 2 ||
		columns[0].Name != "Name" || columns[0].Format != "name" || columns[1].Name != "Age" {
		t.Error(err, columns)
	}
}

func TestAppendDurationIsHumanDuration(t *testing.T) {
	step := 1 * time.Millisecond
	for d := -3 * time.Second; d < 12*year; d += step {
		if got, want := string(appendDuration(nil, d)), duration.HumanDuration(d); got != want {
			t.Fatalf("%v: %s, want %s", d, got, want)
		}
		step += step / 64
		step = min(step, 3*time.Hour+time.Second)
	}
}
