"""Cases of the legacy arrays, `mx.nd`: making, indexing, computing, joining and exchanging them."""
