sapwood picture
