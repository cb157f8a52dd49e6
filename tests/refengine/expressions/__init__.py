"""Expressions and the answers of a real release, to hold the reference engine against.

``tables`` makes the expressions, ``evaluate`` answers them under any engine, ``answers-mxnet-1.9.1.json`` holds what
the release answered, ``differences`` says where the reference engine answers otherwise, and why.
"""
