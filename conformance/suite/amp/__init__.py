"""Cases of mixed precision: loss scaling, and what float16 can hold."""
