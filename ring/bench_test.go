package ring

import (
	"fmt"
	"testing"

	"github.com/lockstep-go/lockstep/dtype"
	"github.com/lockstep-go/lockstep/group"
)

func BenchmarkAllReduce(b *testing.B) {
	for _, n := range []int{2, 4} {
		for _, bytes := range []int{4, 4 << 10, 128 << 10, 1 << 20, 16 << 20} {
			b.Run(fmt.Sprintf("ranks=%d/bytes=%d", n, bytes), func(b *testing.B) {
				comms, err := Local(b.Context(), n, Config{NoSharedMemory: true})
				if err != nil {
					b.Fatal(err)
				}
				defer everyRank(n, func(r int) { comms[r].Close() })
				b.SetBytes(int64(bytes))
				b.ResetTimer()
				everyRank(n, func(r int) {
					data := make([]byte, bytes)
					for range b.N {
						if err := comms[r].AllReduce(b.Context(), group.Sum, dtype.Float32, data); err != nil {
							b.Error(err)
							return
						}
					}
				})
			})
		}
	}
}
