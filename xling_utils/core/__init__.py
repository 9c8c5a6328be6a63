"""The words that all rooms speak: mistakes of the caller, files, specifications of runs, scales, progress, the project.

Its modules stand open; nothing in them knows of any other room.
"""
